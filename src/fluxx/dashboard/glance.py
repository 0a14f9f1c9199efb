"""The service's numbers for all who look at the same moment: read once a second at most, however many watch.

A long time is read in two parts: its closed minutes, which don't change any more, once a minute; the open ones behind
them every second. So a look at a busy day costs as little as one at a quiet hour.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, Final, TypeVar
from uuid import UUID

from fluxx.clock import Clock
from fluxx.model.counts import Counts
from fluxx.ports.observing import Backlog, Minute, Observer

T = TypeVar("T")

FRESH_SECONDS: Final = 1.0
SLOW_SECONDS: Final = 5.0
"""For what changes little from one second to the next."""

CLOSED_SECONDS: Final = 60.0
"""For so long closed minutes are kept; a long time is up to that much longer than it says."""

OPEN: Final = timedelta(minutes=3)
"""After that, nobody adds to a minute: not a slow commit, not a clock that is behind."""

SHORT_MINUTES: Final = 15
MOST_KEPT: Final = 200


class Glance:
    """An observer whose answers are shared."""

    def __init__(self, observer: Observer, clock: Clock) -> None:
        self._observer = observer
        self._clock = clock
        self._kept: dict[Hashable, tuple[float, Any]] = {}
        self._reading: dict[Hashable, asyncio.Lock] = {}

    async def since_the_beginning(self) -> Mapping[UUID, Counts]:
        """Return the counts of each extractor from its first job on."""
        return await self.shared("beginning", self._observer.since_the_beginning)

    async def last(self, minutes: int) -> Mapping[UUID, Counts]:
        """Return the counts of each extractor in the last ``minutes``."""
        since, edge = self._since_and_edge(minutes)
        if minutes <= SHORT_MINUTES:
            return await self.shared(("last", minutes), lambda: self._observer.since(since))

        async def closed() -> tuple[datetime, Mapping[UUID, Counts]]:
            return edge, await self._observer.since(since, until=edge)

        until, before = await self.shared(("closed", minutes), closed, seconds=CLOSED_SECONDS)
        after = await self.shared(("open", until), lambda: self._observer.since(until))
        return {key: before.get(key, Counts()) + after.get(key, Counts()) for key in {**before, **after}}

    async def minutes(self, hours: int, extractors: Sequence[UUID] | None = None) -> Sequence[Minute]:
        """Return the minutes of the last ``hours``, of all extractors or of some."""
        since, edge = self._since_and_edge(hours * 60)
        some = None if extractors is None else tuple(sorted(extractors))

        async def closed() -> tuple[datetime, Sequence[Minute]]:
            return edge, await self._observer.minutes(since, until=edge, extractors=some)

        until, before = await self.shared(("closed minutes", hours, some), closed, seconds=CLOSED_SECONDS)
        after = await self.shared(("open minutes", until, some), lambda: self._observer.minutes(until, extractors=some))
        return [*before, *after]

    async def last_hour_of_each(self) -> Mapping[UUID, Sequence[Minute]]:
        """Return the minutes of the last hour, of each extractor."""
        since, _ = self._since_and_edge(60)
        return await self.shared("each", lambda: self._observer.minutes_of_each(since), seconds=SLOW_SECONDS)

    async def backlog(self) -> Backlog:
        """Return what waits the longest."""
        return await self.shared("backlog", self._observer.backlog)

    def _since_and_edge(self, minutes: int) -> tuple[datetime, datetime]:
        now = self._clock.now()
        return now - timedelta(minutes=minutes), (now - OPEN).replace(second=0, microsecond=0)

    async def shared(self, key: Hashable, read: Callable[[], Awaitable[T]], *, seconds: float = FRESH_SECONDS) -> T:
        """Return what ``read`` returned no longer than ``seconds`` ago; one at a time reads it."""
        async with self._reading.setdefault(key, asyncio.Lock()):
            read_at, value = self._kept.get(key, (0.0, None))
            if key not in self._kept or monotonic() - read_at > seconds:
                value = await read()
                self._keep(key, value)
            kept: T = value
            return kept

    def _keep(self, key: Hashable, value: object) -> None:
        if len(self._kept) > MOST_KEPT:
            self._kept.clear()
            self._reading.clear()
        self._kept[key] = (monotonic(), value)
