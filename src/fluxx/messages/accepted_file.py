"""The message of ``TOPIC_ACCEPTED_FILE`` (story 7): which file was accepted, for whom.

Bare (``{"FileId": …, "ClientApplicationId": …}``) or as ``data`` of an envelope such as CloudEvents;
keys in PascalCase or camelCase; unknown fields are ignored.
"""

from typing import Any
from uuid import UUID

import msgspec

from fluxx.errors import Poison


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
        content = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Poison("NotJson", f"The body is not JSON: {error}") from error
    fields = _fields(content)
    return AcceptedFile(
        file_id=_uuid(fields, "FileId"),
        client_application_id=_uuid(fields, "ClientApplicationId"),
        file_url=_text(fields, "FileUrl"),
        trace_context=_text(fields, "TraceContext") or _text(_object(content), "traceparent"),
    )


def _fields(content: object) -> dict[str, Any]:
    fields = _object(content)
    inner = fields.get("data")
    return _object(inner) if inner is not None and _lookup(fields, "FileId") is None else fields


def _object(content: object) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise Poison("NotAnObject", f"Expected a JSON object, got {type(content).__name__}.")
    return content


def _lookup(fields: dict[str, Any], name: str) -> object:
    return fields.get(name, fields.get(name[0].lower() + name[1:]))


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


def _text(fields: dict[str, Any], name: str) -> str | None:
    value = _lookup(fields, name)
    if value is not None and not isinstance(value, str):
        raise Poison("FieldInvalid", f"{name} is not a string.")
    return value
