"""Finds the field ``file`` in a multipart/form-data body while it streams in (RFC 7578).

Nothing is gathered: each piece of the file is handed on as it comes, so memory stays constant.
"""

from collections import deque
from collections.abc import AsyncIterable, AsyncIterator
from typing import Final

import msgspec
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from fluxx.errors import BadInput, TooLarge

FIELD: Final = "file"
OTHER_FIELDS_LIMIT: Final = 2**20
"""Bytes of other fields that are read over before the body is refused."""


class UploadedPart(msgspec.Struct, frozen=True):
    """The field ``file``: what it says of itself, and its bytes as they come."""

    file_name: str
    content_type: str
    content: AsyncIterator[bytes]


class _Head(msgspec.Struct, frozen=True):
    """A part begins."""

    field: str
    file_name: str
    content_type: str


class _End(msgspec.Struct, frozen=True):
    """A part, or with ``whole`` the body, is complete."""

    whole: bool = False


async def file_part(boundary: bytes, body: AsyncIterable[bytes]) -> UploadedPart:
    """Read ``body`` up to the field ``file``; its ``content`` reads the rest, to the very end.

    Both raise ``BadInput`` where the body is not whole or holds no, or two, such fields.
    """
    events = _events(boundary, body)
    passed_over = 0
    async for event in events:
        match event:
            case _Head(field=field) if field == FIELD:
                return UploadedPart(event.file_name, event.content_type, _content(events))
            case bytes():
                passed_over = _counted(passed_over, event)
    raise BadInput(f"The form has no field {FIELD}.", field=FIELD, malformed=True)


async def _content(events: AsyncIterator[bytes | _Head | _End]) -> AsyncIterator[bytes]:
    inside = True
    passed_over = 0
    async for event in events:
        match event:
            case bytes() if inside:
                yield event
            case bytes():
                passed_over = _counted(passed_over, event)
            case _Head(field=field) if field == FIELD:
                raise BadInput(f"The form has two fields {FIELD}; send one file at a time.", field=FIELD)
            case _End():
                inside = False


def _counted(passed_over: int, data: bytes) -> int:
    if passed_over + len(data) > OTHER_FIELDS_LIMIT:
        raise TooLarge(f"The form's other fields have more than {OTHER_FIELDS_LIMIT} bytes.")
    return passed_over + len(data)


async def _events(boundary: bytes, body: AsyncIterable[bytes]) -> AsyncIterator[bytes | _Head | _End]:
    try:
        parts = _Parts(boundary)
        async for chunk in body:
            parts.write(chunk)
            while parts.events:
                yield parts.events.popleft()
    except FormParserError as error:
        raise BadInput(f"The body is not multipart/form-data: {error}.", field="body", malformed=True) from error
    if not parts.whole:
        raise BadInput("The body ends before its last boundary.", field="body", malformed=True)


class _Parts:
    """Turns the parser's callbacks into events."""

    def __init__(self, boundary: bytes) -> None:
        self.events: deque[bytes | _Head | _End] = deque()
        self.whole = False
        self._name = bytearray()
        self._value = bytearray()
        self._headers: dict[str, bytes] = {}
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._headers.clear,
                "on_header_field": lambda data, start, end: self._name.extend(data[start:end]),
                "on_header_value": lambda data, start, end: self._value.extend(data[start:end]),
                "on_header_end": self._header_ended,
                "on_headers_finished": self._headers_finished,
                "on_part_data": lambda data, start, end: self.events.append(data[start:end]),
                "on_part_end": lambda: self.events.append(_End()),
                "on_end": self._ended,
            },
        )

    def write(self, chunk: bytes) -> None:
        """Parse a piece of the body; raises ``FormParserError``."""
        self._parser.write(chunk)

    def _header_ended(self) -> None:
        self._headers[self._name.decode("latin-1").lower()] = bytes(self._value)
        self._name.clear()
        self._value.clear()

    def _headers_finished(self) -> None:
        _, options = parse_options_header(self._headers.get("content-disposition"))
        self.events.append(
            _Head(
                field=_text(options.get(b"name", b"")),
                file_name=_text(options.get(b"filename", b"")),
                content_type=_text(self._headers.get("content-type", b"")),
            )
        )

    def _ended(self) -> None:
        self.whole = True


def _text(value: bytes) -> str:
    return value.decode(errors="replace")
