"""The service's numbers for all who look at the same moment: read once a second at most, however many watch."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from datetime import timedelta
from time import monotonic
from typing import Any, Final, TypeVar
from uuid import UUID

from fluxx.clock import Clock
from fluxx.model.counts import Counts
from fluxx.ports.observing import Backlog, Minute, Observer

T = TypeVar("T")

FRESH_SECONDS: Final = 1.0
MOST_KEPT: Final = 200


class Glance:
    """An observer whose answers are shared for a second."""

    def __init__(self, observer: Observer, clock: Clock) -> None:
        self._observer = observer
        self._clock = clock
        self._kept: dict[Hashable, tuple[float, Any]] = {}
        self._reading: dict[Hashable, asyncio.Lock] = {}

    async def since_the_beginning(self) -> Mapping[UUID, Counts]:
        """Return the counts of each extractor from its first job on."""
        return await self._shared("beginning", self._observer.since_the_beginning)

    async def last(self, minutes: int) -> Mapping[UUID, Counts]:
        """Return the counts of each extractor in the last ``minutes``."""
        since = self._clock.now() - timedelta(minutes=minutes)
        return await self._shared(("last", minutes), lambda: self._observer.since(since))

    async def minutes(self, hours: int, extractors: Sequence[UUID] | None = None) -> Sequence[Minute]:
        """Return the minutes of the last ``hours``, of all extractors or of some."""
        since = self._clock.now() - timedelta(hours=hours)
        some = None if extractors is None else tuple(sorted(extractors))
        return await self._shared(("minutes", hours, some), lambda: self._observer.minutes(since, extractors=some))

    async def backlog(self) -> Backlog:
        """Return what waits the longest."""
        return await self._shared("backlog", self._observer.backlog)

    async def _shared(self, key: Hashable, read: Callable[[], Awaitable[T]]) -> T:
        async with self._reading.setdefault(key, asyncio.Lock()):
            read_at, value = self._kept.get(key, (0.0, None))
            if key not in self._kept or monotonic() - read_at > FRESH_SECONDS:
                value = await read()
                self._keep(key, value)
            kept: T = value
            return kept

    def _keep(self, key: Hashable, value: object) -> None:
        if len(self._kept) > MOST_KEPT:
            self._kept.clear()
            self._reading.clear()
        self._kept[key] = (monotonic(), value)
