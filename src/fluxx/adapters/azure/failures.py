"""What the SDKs' errors mean to a caller of a port."""

from azure.core.exceptions import AzureError, HttpResponseError

from fluxx.errors import Unavailable


def unavailable(what: str, error: AzureError) -> Unavailable:
    """Return ``error`` as ``Unavailable`` in one line: what, and why in short."""
    return Unavailable(f"{what}: {words(error)}.")


def words(error: AzureError) -> str:
    """Return the reason in a few words, without the answer's body: it may name more than a log should."""
    if isinstance(error, HttpResponseError) and error.status_code:
        return f"{error.status_code} {error_code(error) or error.reason or 'without a reason'}"
    return (str(error.message).splitlines() or [type(error).__name__])[0].rstrip(".")


def error_code(error: HttpResponseError) -> str:
    """Return the service's own name for the error, or an empty string."""
    code = getattr(error, "error_code", None) or getattr(error.error, "code", None)
    return str(getattr(code, "value", code) or "")
