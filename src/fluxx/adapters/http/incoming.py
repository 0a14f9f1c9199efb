"""One answer as it comes in: bytes in, head and body out. No I/O; fed by ``connection``.

llhttp (through httptools) does the parsing, in its strict mode: two lengths, a length beside
chunks, folded or malformed headers, bare line feeds and the like are no HTTP. What is bounded here
is what llhttp leaves open: the size of the head, and how long an answer may go on without content.
"""

from typing import Final

import msgspec
from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from fluxx.adapters.http.failures import NOT_HTTP, Broken, OversizedHead

MAX_HEADERS: Final = 100
MAX_HEAD_BYTES: Final = 32 * 2**10
"""Bytes of a head, interim answers before it included; and of trailers or chunk headers without content."""

_FIRST: Final = 100
"""The smallest status."""
_FINAL: Final = 200
"""The smallest status of an answer that is not an interim one."""
_SUCCESS: Final = range(200, 300)
_WITHOUT_BODY: Final = frozenset({204, 304})


class Head(msgspec.Struct, frozen=True):
    """Status, reason phrase, and headers with lower-case names."""

    status: int
    reason: str
    headers: dict[str, str]

    @property
    def is_success(self) -> bool:
        """Whether the body is what was asked for, and not a page about an error."""
        return self.status in _SUCCESS


class Incoming:
    """The answer to one request after the other, on one connection.

    ``head`` is None until it has come; ``complete`` says that all has; ``kept`` that the connection
    may then carry another request; ``held`` how many bytes of the body wait to be taken.
    """

    def __init__(self) -> None:
        self._parser = HttpResponseParser(self)
        self.start(bodiless=False)

    def start(self, *, bodiless: bool) -> None:
        """Expect an answer; ``bodiless`` for one that ends with its head whatever that says (HEAD)."""
        self.head: Head | None = None
        self.complete = False
        self.kept = False
        self.held = 0
        self._bodiless = bodiless
        self._until_close = False
        self._barren = 0
        self._pieces: list[bytes] = []
        self._reason = b""
        self._fields: list[tuple[bytes, bytes]] = []

    def feed(self, data: bytes) -> None:
        """Take what has come; raise ``Broken`` or ``OversizedHead``. Nothing may be fed after that."""
        self._barren += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            self.kept = False
            if not self.complete:
                raise _meaning(error) from None
        if self._barren > MAX_HEAD_BYTES and not self.complete:
            raise OversizedHead

    def end(self) -> bool:
        """Take the end of the connection; say whether it is the end of the answer too."""
        self.complete = self.complete or self._until_close
        self.kept = False
        return self.complete

    def take(self) -> bytes:
        """Return the body's bytes that have come since the last time."""
        data = b"".join(self._pieces)
        self._pieces = []
        self.held = 0
        return data

    # What follows is called by the parser.

    def on_message_begin(self) -> None:
        """Stop where something follows the answer: it belongs to no request."""
        if self.complete:
            raise Broken(NOT_HTTP)

    def on_status(self, part: bytes) -> None:
        """Take a piece of the reason phrase."""
        self._reason += part

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header or a trailer (which nobody reads)."""
        if len(self._fields) >= MAX_HEADERS:
            raise OversizedHead
        self._fields.append((name, value))

    def on_headers_complete(self) -> None:
        """Judge the head. One of an interim answer counts towards the bound, and is forgotten."""
        status = self._parser.get_status_code()
        if status < _FINAL:
            return
        if self._barren > MAX_HEAD_BYTES and self._head_bytes() > MAX_HEAD_BYTES:
            raise OversizedHead
        headers = _joined(self._fields)
        chunked = headers.get("transfer-encoding")
        if chunked is not None and (chunked.lower() != "chunked" or self._parser.get_http_version() != "1.1"):
            raise Broken(NOT_HTTP)
        self.head = Head(status, self._reason.decode("utf-8", "replace"), headers)
        self._until_close = chunked is None and "content-length" not in headers and status not in _WITHOUT_BODY
        self.complete = self._bodiless
        self._fields = []
        self._barren = 0

    def on_body(self, piece: bytes) -> None:
        """Take a piece of the body."""
        if not self._bodiless:
            self._barren = 0
            self.held += len(piece)
            self._pieces.append(piece)

    def on_message_complete(self) -> None:
        """Go on after an interim answer; otherwise this is the end."""
        if self.head is None:
            if self._parser.get_status_code() < _FIRST:
                raise Broken(NOT_HTTP)
            self._reason, self._fields = b"", []
            return
        self.complete = True
        self.kept = self._parser.should_keep_alive() and not self._bodiless

    def _head_bytes(self) -> int:
        return len(self._reason) + sum(len(name) + len(value) for name, value in self._fields)


def _meaning(error: Exception) -> Exception:
    """Return why a callback stopped the parser, or else that it was not HTTP."""
    cause = error.__context__
    return cause if isinstance(cause, OversizedHead) else Broken(NOT_HTTP)


def _joined(fields: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers as text; one that was sent several times is joined (RFC 9110, section 5.2)."""
    headers: dict[str, str] = {}
    for name, value in fields:
        key, text = name.decode("latin-1").lower(), value.decode("utf-8", "replace").rstrip(" \t")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers
