"""The message of ``TOPIC_ACCEPTED_FILE`` (story 7): which file was accepted, for whom.

Bare (``{"FileId": …, "ClientApplicationId": …}``) or as ``data`` of an envelope such as CloudEvents;
keys in PascalCase or camelCase; unknown fields are ignored, and so is a null.
"""

import re
from typing import Any, Final
from uuid import UUID

import msgspec

from fluxx.errors import Poison

LONGEST_URL: Final = 16 * 1024
"""Bytes of a signed URL; real ones stay under 2,000."""

_BOM: Final = b"\xef\xbb\xbf"
_URL: Final = re.compile(r"https?://[^\s/]\S*", re.IGNORECASE)
_TRACEPARENT: Final = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-[\w-]{0,40})?", re.ASCII)


class AcceptedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file was accepted. ``file_url`` is a signed URL received from upstream, if any."""

    file_id: UUID
    client_application_id: UUID
    file_url: str | None = None
    trace_context: str | None = None


def encode(message: AcceptedFile) -> bytes:
    """Return the bare JSON form, without the fields that are unset."""
    fields = {
        "FileId": str(message.file_id),
        "ClientApplicationId": str(message.client_application_id),
        "FileUrl": message.file_url,
        "TraceContext": message.trace_context,
    }
    return msgspec.json.encode({key: value for key, value in fields.items() if value is not None})


def decode(body: bytes) -> AcceptedFile:
    """Return the message in ``body``; raise ``Poison`` saying what can't be understood."""
    try:
        content = _object(msgspec.json.decode(body.removeprefix(_BOM)))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Poison("NotJson", f"The body is not JSON in UTF-8: {error}") from error
    fields = content
    if _lookup(content, "FileId") is None and (inner := _lookup(content, "Data")) is not None:
        fields = _object(inner)
    return AcceptedFile(
        file_id=_uuid(fields, "FileId"),
        client_application_id=_uuid(fields, "ClientApplicationId"),
        file_url=_url(fields, "FileUrl"),
        trace_context=trace_context(_lookup(fields, "TraceContext")) or trace_context(content.get("traceparent")),
    )


def trace_context(value: object) -> str | None:
    """Return ``value`` where it is a W3C ``traceparent``; anything else is no trace, and no harm either."""
    return value if isinstance(value, str) and _TRACEPARENT.fullmatch(value) else None


def _object(content: object) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise Poison("NotAnObject", "Expected a JSON object with FileId and ClientApplicationId.")
    return content


def _lookup(fields: dict[str, Any], name: str) -> object:
    value = fields.get(name)
    return fields.get(name[0].lower() + name[1:]) if value is None else value


def _uuid(fields: dict[str, Any], name: str) -> UUID:
    value = _lookup(fields, name)
    if value is None:
        raise Poison("FieldMissing", f"{name} is missing.")
    try:
        return UUID(value) if isinstance(value, str) else _not_a_uuid(name)
    except ValueError:
        return _not_a_uuid(name)


def _not_a_uuid(name: str) -> UUID:
    raise Poison("FieldInvalid", f"{name} is not a UUID.")


def _url(fields: dict[str, Any], name: str) -> str | None:
    value = _lookup(fields, name)
    if value is None or value == "":
        return None
    if not isinstance(value, str) or len(value.encode()) > LONGEST_URL or not _URL.fullmatch(value):
        raise Poison("FieldInvalid", f"{name} is not an http or https URL of at most {LONGEST_URL} bytes.")
    return value
