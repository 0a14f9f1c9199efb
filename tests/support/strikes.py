"""What happens at a named point: something once, or a database that is gone for a while."""

import asyncio
from collections.abc import Awaitable, Callable

from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from fluxx.wiring import World

REFUSED = 4
"""Transactions that a database that is gone refuses, before it is back."""


class Once:
    """Strikes when ``point`` is reached first."""

    def __init__(self, point: str, strike: Callable[[], Awaitable[None]]) -> None:
        self.struck = asyncio.Event()
        self._point = point
        self._strike = strike

    async def reached(self, point: str) -> None:
        """Strike, or do nothing."""
        if point == self._point and not self.struck.is_set():
            self.struck.set()
            await self._strike()


class Gone:
    """A database that can't be reached once it ``begin``s to be gone."""

    def __init__(self) -> None:
        self._left = 0

    async def begin(self) -> None:
        """Be gone from now on."""
        self._left = REFUSED

    def at(self, world: World) -> None:
        """Make it the database of ``world``."""
        event.listen(world.database._connections._engine, "begin", self._refuse)

    def _refuse(self, _connection: object) -> None:
        if self._left:
            self._left -= 1
            raise OperationalError("BEGIN", None, Exception("made up: the server is away"))


async def failing() -> None:
    """Raise what nobody expects."""
    raise RuntimeError("made up")
