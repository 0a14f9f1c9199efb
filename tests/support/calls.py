"""Calls to make with the HTTP extractor client, and bodies that servers answer them with."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_network
from typing import Any

from fluxx.adapters.http.client import HttpExtractorClient
from fluxx.ports.extractor import Answer, Call

LOOPBACK = (ip_network("127.0.0.0/8"),)


@asynccontextmanager
async def a_client(**options: Any) -> AsyncIterator[HttpExtractorClient]:
    """A client that may call loopback, unless ``options`` say otherwise."""
    made = HttpExtractorClient(**{"allowed_networks": LOOPBACK, **options})
    try:
        yield made
    finally:
        await made.close()


def get(url: str, **changes: Any) -> Call:
    """A GET within small bounds."""
    return Call(**{"method": "GET", "url": url, "timeout": 5.0, "max_bytes": 10_000, **changes})


def post(url: str, **changes: Any) -> Call:
    """A POST of an empty object within small bounds."""
    return get(url, **{"method": "POST", "body": b"{}", **changes})


async def downloaded(client: HttpExtractorClient, call: Call) -> tuple[Answer, bytes]:
    """The head of a download and all that it brought."""
    async with client.download(call) as download:
        return download.answer, b"".join([chunk async for chunk in download.chunks])


async def fetch(how: str, client: HttpExtractorClient, call: Call) -> bytes:
    """The body, by "exchange" or "download"."""
    return (await client.exchange(call)).body if how == "exchange" else (await downloaded(client, call))[1]


def names(known: dict[str, Sequence[str]]) -> Callable[[str], Any]:
    """A lookup that knows these names only."""

    async def lookup(host: str) -> Sequence[str]:
        if host not in known:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return known[host]

    return lookup


async def of(*pieces: bytes) -> AsyncIterator[bytes]:
    """A body in these pieces, its length not announced."""
    for piece in pieces:
        yield piece


async def endless(piece: bytes = b"x" * 1000) -> AsyncIterator[bytes]:
    """A body without an end."""
    while True:
        yield piece


async def stalling(*pieces: bytes) -> AsyncIterator[bytes]:
    """A body that stops coming after these pieces, without an end."""
    for piece in pieces:
        yield piece
    await asyncio.Event().wait()
