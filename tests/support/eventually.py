"""Looking again and again, for what another process does and nobody tells us."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

LOOK_EVERY = 0.05


async def eventually(look: Callable[[], Awaitable[T | None]], *, bound: float) -> T:
    """Return what ``look`` returns once it is something; raise TimeoutError after ``bound`` seconds."""
    async with asyncio.timeout(bound):
        while True:
            if found := await look():
                return found
            await asyncio.sleep(LOOK_EVERY)
