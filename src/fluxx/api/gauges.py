"""What ``/metrics`` says of the whole service at this moment: read from a few small rows, never by counting jobs.

Every replica says the same; whoever adds up replicas takes one of them (``max``).
"""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from time import monotonic
from typing import Final
from uuid import UUID

from fluxx.clock import Clock
from fluxx.errors import Unavailable
from fluxx.model.counts import Counts
from fluxx.model.job import Extractor, Status
from fluxx.ports.observing import Observer
from fluxx.ports.presence import Presence
from fluxx.ports.registrations import RegistrationStore
from fluxx.telemetry import (
    JOBS,
    JOBS_FINISHED,
    OLDEST_DUE_SECONDS,
    OLDEST_FILE_SECONDS,
    OUTBOX_LAG_SECONDS,
    WORKERS,
    Facts,
)

FRESH_SECONDS: Final = 1.0
"""However many scrapers ask, the database is asked once in this time."""


class Gauges:
    """Sets the gauges before they are shown."""

    def __init__(
        self, *, observer: Observer, presence: Presence, registrations: RegistrationStore, clock: Clock, facts: Facts
    ) -> None:
        self._observer = observer
        self._presence = presence
        self._registrations = registrations
        self._clock = clock
        self._facts = facts
        self._refreshing = asyncio.Lock()
        self._refreshed_at = -FRESH_SECONDS

    async def refresh(self) -> None:
        """Bring the gauges up to date; while the database is away they keep what they last knew."""
        async with self._refreshing:
            if monotonic() - self._refreshed_at < FRESH_SECONDS:
                return
            try:
                await self._refresh()
            except Unavailable:
                return  # the counters are worth showing all the same
            self._refreshed_at = monotonic()

    async def _refresh(self) -> None:
        extractors = {each.client_application_extractor_id: each for each in await self._registrations.extractors()}
        counts = await self._observer.since_the_beginning()
        backlog = await self._observer.backlog()
        workers = await self._presence.workers()
        now = self._clock.now()
        self._facts.level(JOBS, _by_status(counts, extractors, {Status.QUEUED: "waiting", Status.STARTED: "working"}))
        finished = {Status.SUCCEEDED: "succeeded", Status.FAILED: "failed"}
        self._facts.level(JOBS_FINISHED, _by_status(counts, extractors, finished))
        self._facts.level(WORKERS, {(): len(workers)})
        self._facts.level(OLDEST_FILE_SECONDS, {(): _age(backlog.oldest_file_at, now)})
        self._facts.level(OLDEST_DUE_SECONDS, {(): _age(backlog.oldest_due_at, now)})
        self._facts.level(OUTBOX_LAG_SECONDS, {(): _age(backlog.oldest_event_at, now)})


def _by_status(
    counts: Mapping[UUID, Counts], extractors: Mapping[UUID, Extractor], numbers: Mapping[Status, str]
) -> dict[tuple[str, ...], float]:
    return {
        (status, str(key), extractor.name): getattr(counts.get(key, Counts()), number)
        for key, extractor in extractors.items()
        for status, number in numbers.items()
    }


def _age(since: datetime | None, now: datetime) -> float:
    return 0.0 if since is None else max((now - since).total_seconds(), 0.0)
