"""A body, decoded piece by piece within a bound: what a small compressed answer can grow to is limited.

gzip and deflate are undone here, not by the HTTP library, so that ``max_bytes`` holds for what
comes out, byte by byte, and a few kilobytes can't fill the memory (a "decompression bomb").
"""

import zlib
from collections.abc import Iterator
from typing import Final, Protocol

ACCEPTED: Final = "gzip, deflate"
PIECE: Final = 64 * 2**10
"""Bytes: the largest decoded piece of a compressed body."""

_GZIP: Final = 16 + zlib.MAX_WBITS


class BrokenBody(Exception):
    """The body is not what its Content-Encoding says, or ends too early. Caught by the client."""


class TooMuch(Exception):
    """The body goes beyond its bound. Caught by the client."""


class Decoder(Protocol):
    """Undoes one content encoding, fed with the body as it comes."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what ``data`` decodes to, in non-empty pieces; raise ``BrokenBody``."""
        ...

    def finish(self) -> None:
        """Raise ``BrokenBody`` where more should have come."""
        ...


class Bounded:
    """A decoder that gives out at most ``max_bytes``, then raises ``TooMuch``."""

    def __init__(self, encoding: str, max_bytes: int) -> None:
        self._decoder = _decoder(encoding)
        self._left = max_bytes

    def feed(self, data: bytes) -> Iterator[bytes]:
        """See ``Decoder.feed``; the piece that would go beyond the bound is held back."""
        for piece in self._decoder.feed(data):
            self._left -= len(piece)
            if self._left < 0:
                raise TooMuch
            yield piece

    def finish(self) -> None:
        """See ``Decoder.finish``."""
        self._decoder.finish()


def _decoder(encoding: str) -> Decoder:
    match encoding.strip().lower():
        case "" | "identity":
            return _Identity()
        case "gzip" | "x-gzip":
            return _Compressed(_GZIP)
        case "deflate":
            return _Compressed(zlib.MAX_WBITS)
        case _:
            raise BrokenBody("has a Content-Encoding that was not asked for")


class _Identity:
    def feed(self, data: bytes) -> Iterator[bytes]:
        yield data

    def finish(self) -> None:
        """Whether all has come is the HTTP library's to know."""


class _Compressed:
    """zlib, gzip (several members too) and, as many servers mean by "deflate", raw deflate."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._stream = zlib.decompressobj(window)
        self._started = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        full = False
        while data or full:
            if self._stream.eof and not self._next_member(data):
                return
            piece = self._decompress(data)
            data = self._stream.unconsumed_tail or self._stream.unused_data
            # A full piece may leave decoded bytes behind even where all input was taken.
            full = len(piece) == PIECE
            if piece:
                yield piece

    def finish(self) -> None:
        if self._started and not self._stream.eof:
            raise BrokenBody("ends too early to be decompressed")

    def _decompress(self, data: bytes) -> bytes:
        if not self._started and self._window == zlib.MAX_WBITS and data[0] & 0x0F != zlib.DEFLATED:
            self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
        self._started = True
        try:
            return self._stream.decompress(data, PIECE)
        except zlib.error:
            raise BrokenBody("can't be decompressed") from None

    def _next_member(self, data: bytes) -> bool:
        """Go on with the next gzip member (RFC 1952, section 2.2); what follows otherwise is no content."""
        if self._window != _GZIP or data[:1] != b"\x1f":
            return False
        self._stream = zlib.decompressobj(_GZIP)
        return True
