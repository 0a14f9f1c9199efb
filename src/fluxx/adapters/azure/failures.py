"""What the SDKs' errors mean to a caller of a port."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from azure.core.exceptions import AzureError, HttpResponseError, ResourceNotFoundError

from fluxx.errors import NotFound, Unavailable

_BLOB_GONE: Final = frozenset({"BlobNotFound", "ResourceNotFound", ""})
"""Other things that aren't found, such as the container, are no fault of the caller's."""


@contextmanager
def told_as(what: str) -> Iterator[None]:
    """Turn the SDK's errors into ``NotFound`` (a blob that isn't there) or ``Unavailable``: ``what``, and why."""
    try:
        yield
    except AzureError as error:
        gone = isinstance(error, ResourceNotFoundError) and error_code(error) in _BLOB_GONE
        raise (NotFound if gone else Unavailable)(f"{what}: {words(error)}.") from error


def words(error: AzureError) -> str:
    """Return the reason in a few words, without the answer's body: it may name more than a log should."""
    if isinstance(error, HttpResponseError) and error.status_code:
        return f"{error.status_code} {error_code(error) or error.reason or 'without a reason'}"
    return (str(error.message).splitlines() or [type(error).__name__])[0].rstrip(".")


def error_code(error: HttpResponseError) -> str:
    """Return the service's own name for the error, or an empty string."""
    code = getattr(error, "error_code", None) or getattr(error.error, "code", None)
    return str(getattr(code, "value", code) or "")
