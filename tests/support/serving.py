"""An HTTP server of ours that runs while a block lasts."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from fluxx.api.server import HttpServer
from support.facts import BOUND


@asynccontextmanager
async def serving(server: HttpServer) -> AsyncIterator[httpx.AsyncClient]:
    """Run ``server`` and give a client of it; stop it afterwards and wait for its end."""
    await server.listen()
    running = asyncio.create_task(server.run())
    try:
        async with httpx.AsyncClient(base_url=server.url, timeout=BOUND) as http:
            yield http
    finally:
        server.stop()
        async with asyncio.timeout(10):
            await running
