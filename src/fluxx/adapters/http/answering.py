"""From a connection's bytes to the port's answer: bodies decoded, and within bounds."""

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Final

from fluxx.adapters.http.connection import Connection
from fluxx.adapters.http.decoding import Bounded, TooMuch
from fluxx.adapters.http.failures import TROUBLE, told
from fluxx.adapters.http.incoming import Head
from fluxx.errors import NoAnswer
from fluxx.ports.extractor import Call

EXCERPT: Final = 16 * 2**10
"""Bytes read of a body that is only to be quoted."""

ANY_SIZE: Final = sys.maxsize
"""The bound of such a body: an error keeps its meaning however large its page is."""


async def whole(connection: Connection, head: Head, max_bytes: int) -> bytes:
    """Return the decoded body; raise what ``failures.TROUBLE`` lists."""
    # Most answers have come in one piece with their head; the generator costs as much as parsing them.
    if "content-encoding" not in head.headers and (body := connection.all_of_it()) is not None:
        if len(body) > max_bytes:
            raise TooMuch
        return body
    return b"".join([piece async for piece in decoded(connection, head, max_bytes)])


async def decoded(connection: Connection, head: Head, max_bytes: int) -> AsyncGenerator[bytes, None]:
    """Yield the decoded body as it comes; raise what ``failures.TROUBLE`` lists."""
    encoding = head.headers.get("content-encoding", "")
    if not encoding and int(head.headers.get("content-length", 0)) > max_bytes:
        raise TooMuch
    body = Bounded(encoding, max_bytes)
    while data := await connection.read():
        for piece in body.feed(data):
            yield piece
    body.finish()


async def telling(body: AsyncGenerator[bytes, None], source: object, call: Call) -> AsyncGenerator[bytes, None]:
    """Yield the pieces of ``body``; raise ``TooLarge`` or ``NoAnswer``, named after ``source``."""
    async with aclosing(body):
        try:
            async for piece in body:
                yield piece
        except TROUBLE as trouble:
            raise told(trouble, source, call) from None


async def patiently(body: AsyncGenerator[bytes, None], patience: float, source: object) -> AsyncIterator[bytes]:
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
