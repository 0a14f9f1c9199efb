"""The connections that are open: lent to one call at a time, kept for a while for the next.

There are never more than ``max_connections``. Calls that find all of them lent wait in turn (their
own timeout bounds the wait); where only resting ones stand in the way, the one that has rested
longest is closed.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from fluxx.adapters.http.connection import Connection
from fluxx.adapters.http.failures import LOST, Broken
from fluxx.adapters.http.target import Origin

IDLE_SECONDS: Final = 4.0
"""How long a resting connection is kept: less than the 5 seconds after which many servers close theirs."""

Connect: TypeAlias = Callable[[Origin, set[Connection]], Awaitable[Connection]]


class Pool:
    """Lends connections. Belongs to the event loop of the first call."""

    def __init__(self, connect: Connect, *, max_connections: int) -> None:
        self._connect = connect
        self._max = max_connections
        self._slots = asyncio.Semaphore(max_connections)
        self._lent = 0
        self._open: set[Connection] = set()
        self._resting: defaultdict[Origin, list[Connection]] = defaultdict(list)
        self._sweep: asyncio.TimerHandle | None = None
        self._closed = False

    async def take(self, origin: Origin) -> Connection:
        """Return a connection to the origin, to be given back; raise what connecting raises."""
        await self._slots.acquire()
        self._lent += 1
        try:
            if self._closed:
                raise Broken(LOST, sent=False)
            return self._rested(origin) or await self._fresh(origin)
        except BaseException:
            self._release()
            raise

    def give_back(self, connection: Connection) -> None:
        """Take back what ``take`` lent, in whatever state."""
        if connection.rest() and not self._closed:
            loop = asyncio.get_running_loop()
            connection.rested_at = loop.time()
            self._resting[connection.origin].append(connection)
            if self._sweep is None:
                self._sweep = loop.call_later(IDLE_SECONDS, self._close_idle)
        else:
            connection.abort()
        self._release()

    async def close(self) -> None:
        """Close all connections, those that are lent too, and wait until they are gone."""
        self._closed = True
        if self._sweep is not None:
            self._sweep.cancel()
        closing = list(self._open)
        for connection in closing:
            connection.abort()
        await asyncio.gather(*(connection.gone for connection in closing))

    def _release(self) -> None:
        self._lent -= 1
        self._slots.release()

    def _rested(self, origin: Origin) -> Connection | None:
        """Return the connection to the origin that was used last, if it is still good."""
        resting = self._resting.get(origin)
        too_old = asyncio.get_running_loop().time() - IDLE_SECONDS
        while resting:
            connection = resting.pop()
            if connection.usable and connection.rested_at > too_old:
                return connection
            connection.abort()
        return None

    async def _fresh(self, origin: Origin) -> Connection:
        if self._lent + sum(map(len, self._resting.values())) > self._max:
            oldest = min((resting for resting in self._resting.values() if resting), key=_age)
            oldest.pop(0).abort()
        connection = await self._connect(origin, self._open)
        if self._closed:
            connection.abort()
            raise Broken(LOST, sent=False)
        return connection

    def _close_idle(self) -> None:
        now = asyncio.get_running_loop().time()
        for origin, resting in list(self._resting.items()):
            while resting and now - resting[0].rested_at >= IDLE_SECONDS:
                resting.pop(0).abort()
            if not resting:
                del self._resting[origin]
        oldest = min(map(_age, self._resting.values()), default=None)
        self._sweep = (
            None if oldest is None else asyncio.get_running_loop().call_at(oldest + IDLE_SECONDS, self._close_idle)
        )


def _age(resting: list[Connection]) -> float:
    """Return when the one that has rested longest began to."""
    return resting[0].rested_at
