"""How long the other side may keep us waiting for the next piece of what it sends."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator
from http import HTTPStatus

from starlette.exceptions import HTTPException


async def patiently(pieces: AsyncIterable[bytes], seconds: float) -> AsyncIterator[bytes]:
    """Yield ``pieces``; give up with 408 where ``seconds`` pass without one."""
    coming = aiter(pieces)
    while True:
        try:
            async with asyncio.timeout(seconds):
                piece = await anext(coming, None)
        except TimeoutError:
            words = f"Nothing came for {seconds:g} s; the request was given up."
            raise HTTPException(HTTPStatus.REQUEST_TIMEOUT, words, headers={"Connection": "close"}) from None
        if piece is None:
            return
        yield piece
