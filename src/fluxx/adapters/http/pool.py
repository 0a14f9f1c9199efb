"""The connections that are open: lent to one call at a time, kept for a while for the next.

There are never more than ``max_connections``. Calls that find all of them lent wait in turn (their
own timeout bounds the wait); where only resting ones stand in the way, the one that has rested
longest is closed.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from fluxx.adapters.http.connection import Connection
from fluxx.adapters.http.failures import LOST, Broken, TooSlow
from fluxx.adapters.http.target import Origin

IDLE_SECONDS: Final = 4.0
"""How long a resting connection is kept: less than the 5 seconds after which many servers close theirs."""

Connect: TypeAlias = Callable[[Origin], Awaitable[Connection]]


class Pool:
    """Lends connections. Belongs to the event loop of the first call."""

    def __init__(self, connect: Connect, *, max_connections: int, idle_seconds: float = IDLE_SECONDS) -> None:
        self._connect = connect
        self._max = max_connections
        self._idle_seconds = idle_seconds
        self._lent = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._open: set[Connection] = set()
        self._resting: defaultdict[Origin, list[Connection]] = defaultdict(list)
        self._sweep: asyncio.TimerHandle | None = None
        self._closed = False

    def take_rested(self, origin: Origin) -> Connection | None:
        """Return a connection to the origin that is there to be lent, if one is: what ``take`` does, without a wait."""
        if self._lent < self._max and not self._waiting and (connection := self._rested(origin)):
            self._lent += 1
            return connection
        return None

    async def take(self, origin: Origin, *, until: float) -> Connection:
        """Return a connection to the origin, to be given back.

        Raises what connecting raises, and ``TooSlow`` at ``until`` (event loop's time).
        """
        try:
            async with asyncio.timeout_at(until):
                return await self._in_turn(origin)
        except TimeoutError:
            raise TooSlow(sent=False) from None

    def give_back(self, connection: Connection) -> None:
        """Take back what ``take`` lent, in whatever state."""
        if connection.rest() and not self._closed:
            loop = asyncio.get_running_loop()
            connection.rested_at = loop.time()
            self._resting[connection.origin].append(connection)
            if self._sweep is None:
                self._sweep = loop.call_later(self._idle_seconds, self._close_idle)
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

    async def _in_turn(self, origin: Origin) -> Connection:
        await self._slot()
        try:
            return self._rested(origin) or await self._fresh(origin)
        except BaseException:
            self._release()
            raise

    async def _slot(self) -> None:
        """Wait in turn until one more connection may be lent, and count it."""
        if self._lent < self._max and not self._waiting:
            self._lent += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # the slot came at the same moment
                self._release()
            raise

    def _release(self) -> None:
        """Hand the slot to whoever has waited longest."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._lent -= 1

    def _rested(self, origin: Origin) -> Connection | None:
        """Return the connection to the origin that was used last, if it is still good."""
        resting = self._resting.get(origin)
        too_old = asyncio.get_running_loop().time() - self._idle_seconds
        while resting:
            connection = resting.pop()
            if connection.usable and connection.rested_at > too_old and connection.quiet:
                return connection
            connection.abort()
        return None

    async def _fresh(self, origin: Origin) -> Connection:
        if self._lent + sum(map(len, self._resting.values())) > self._max:
            oldest = min((resting for resting in self._resting.values() if resting), key=_age)
            oldest.pop(0).abort()
        if not self._closed:
            connection = await self._connect(origin)
            # Counted only now: an event loop may drop a connection whose opening was cancelled without a word.
            self._open.add(connection)
            connection.gone.add_done_callback(lambda _: self._open.discard(connection))
            if not self._closed:
                return connection
            connection.abort()
        raise Broken(LOST, sent=False)

    def _close_idle(self) -> None:
        now = asyncio.get_running_loop().time()
        for origin, resting in list(self._resting.items()):
            while resting and now - resting[0].rested_at >= self._idle_seconds:
                resting.pop(0).abort()
            if not resting:
                del self._resting[origin]
        self._sweep = None
        if self._resting:
            due = min(map(_age, self._resting.values())) + self._idle_seconds
            self._sweep = asyncio.get_running_loop().call_at(due, self._close_idle)


def _age(resting: list[Connection]) -> float:
    """Return when the one that has rested longest began to."""
    return resting[0].rested_at
