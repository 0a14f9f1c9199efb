"""From the HTTP library's response to the port's answer: headers made plain, bodies within bounds."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Final

import aiohttp

from fluxx.adapters.http.decoding import Bounded, BrokenBody, TooMuch
from fluxx.adapters.http.failures import told
from fluxx.adapters.http.target import Target
from fluxx.errors import NoAnswer, TooLarge
from fluxx.ports.extractor import Answer

EXCERPT: Final = 16 * 2**10
"""Bytes read of a body that is only to be quoted."""


def answer(response: aiohttp.ClientResponse, body: bytes) -> Answer:
    """Return the answer with this body. A header sent several times is joined (RFC 9110, section 5.2)."""
    headers: dict[str, str] = {}
    for name, value in response.headers.items():
        key = name.lower()
        headers[key] = f"{headers[key]}, {_text(value)}" if key in headers else _text(value)
    return Answer(response.status, _text(response.reason or ""), headers, body)


async def pieces(response: aiohttp.ClientResponse, source: Target, max_bytes: int) -> AsyncGenerator[bytes, None]:
    """Yield the decoded body as it comes; raise ``TooLarge`` or ``NoAnswer``, named after ``source``."""
    encoding = response.headers.get("Content-Encoding", "")
    too_large = TooLarge(f"{source} answered with more than {max_bytes} bytes, the most allowed.")
    if not encoding and (response.content_length or 0) > max_bytes:
        raise too_large
    try:
        body = Bounded(encoding, max_bytes)
        while data := await response.content.readany():
            for piece in body.feed(data):
                yield piece
        body.finish()
    except TooMuch:
        raise too_large from None
    except BrokenBody as broken:
        raise NoAnswer(f"{source} sent a body that {broken}.") from None
    except (aiohttp.ClientError, OSError) as error:
        raise told(error, source) from None


async def patiently(body: AsyncGenerator[bytes, None], patience: float, source: Target) -> AsyncIterator[bytes]:
    """Yield the pieces of ``body``; raise ``NoAnswer`` where one keeps us waiting ``patience`` seconds."""
    async with aclosing(body):
        while True:
            try:
                async with asyncio.timeout(patience):
                    piece = await anext(body, None)
            except TimeoutError:
                raise NoAnswer(f"{source} sent nothing more for {patience:g} s.") from None
            if piece is None:
                return
            yield piece


async def beginning(body: AsyncGenerator[bytes, None]) -> bytes:
    """Return the first bytes of ``body`` and give up the rest."""
    start = b""
    async with aclosing(body):
        async for piece in body:
            start += piece
            if len(start) >= EXCERPT:
                break
    return start[:EXCERPT]


def _text(value: str) -> str:
    """Return a header's text with bytes that are no UTF-8 replaced; the library hands on lone surrogates."""
    return value if value.isascii() else value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
