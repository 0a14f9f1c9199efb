"""Purge: forgets jobs, files and events that ended long ago, blobs first; and counts that nobody sees any more.

A blob goes before the row that names it, so that a purge cut short is finished by the next one.
Used by the retention loop (``RETENTION_DAYS``) and by ``fluxx db purge``.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final, TypeVar
from uuid import UUID

import msgspec

from fluxx.clock import Clock
from fluxx.ports.blobs import Blobs
from fluxx.ports.retention import Retention
from fluxx.telemetry import PURGED, Facts

BATCH: Final = 200
"""Rows forgotten in one transaction: short enough for nobody to wait."""

ROUND_REST: Final = 3600.0
"""Seconds between two rounds of the loop."""

UNACCEPTED: Final = timedelta(days=1)
"""For how long at least a file without any job is kept: its message may still wait to be accepted."""

SEEN: Final = timedelta(days=2)
"""For how long what was counted in a single minute is kept: pages show the last 24 hours, and sums for all time."""

MINUTES: Final = 10
"""Minutes whose counts are forgotten in one transaction: a few rows for each extractor and process."""

T = TypeVar("T")


class Forgotten(msgspec.Struct, frozen=True):
    """How much a purge removed."""

    jobs: int = 0
    files: int = 0
    messages: int = 0

    def __add__(self, other: "Forgotten") -> "Forgotten":
        """Add what another batch removed."""
        return Forgotten(self.jobs + other.jobs, self.files + other.files, self.messages + other.messages)

    def __bool__(self) -> bool:
        """Whether it is anything at all."""
        return self != Forgotten()


class Purge:
    """``log`` is the topic whose messages are history too, where topics are kept in the database."""

    def __init__(self, *, retention: Retention, blobs: Blobs, log: str, clock: Clock, facts: Facts) -> None:
        self._retention = retention
        self._blobs = blobs
        self._log = log
        self._clock = clock
        self._facts = facts

    async def older_than(self, age: timedelta) -> Forgotten:
        """Forget what ended more than ``age`` ago; return how much that was."""
        before = self._clock.now() - age
        total = Forgotten()
        for forget in (self._jobs, self._unaccepted_files, self._messages):
            async for batch in _batches(forget, before):
                total += batch
        self._facts.tell(PURGED, jobs=total.jobs, files=total.files, messages=total.messages)
        return total

    async def unseen_minutes(self) -> None:
        """Forget what was counted in single minutes that no page shows any more."""
        async for _ in _batches(self._minutes, self._clock.now() - SEEN):
            pass

    async def _minutes(self, before: datetime) -> bool:
        return await self._retention.forget_minutes(before, limit=MINUTES)

    async def _jobs(self, before: datetime) -> Forgotten:
        outdated = await self._retention.outdated_jobs(before, limit=BATCH)
        if not outdated.job_ids:
            return Forgotten()
        await self._delete_blobs(outdated.result_paths)
        await self._retention.forget_jobs(outdated.job_ids)
        files = await self._forget_files(await self._retention.jobless_files(outdated.file_ids))
        return Forgotten(jobs=len(outdated.job_ids), files=files)

    async def _unaccepted_files(self, before: datetime) -> Forgotten:
        before = min(before, self._clock.now() - UNACCEPTED)
        return Forgotten(files=await self._forget_files(await self._retention.outdated_files(before, limit=BATCH)))

    async def _messages(self, before: datetime) -> Forgotten:
        return Forgotten(messages=await self._retention.forget_messages(before, log=self._log, limit=BATCH))

    async def _forget_files(self, paths: Mapping[UUID, str]) -> int:
        if paths:
            await self._delete_blobs(paths.values())
            await self._retention.forget_files(list(paths))
        return len(paths)

    async def _delete_blobs(self, paths: Iterable[str]) -> None:
        for path in paths:
            await self._blobs.delete(path)


async def _batches(forget: Callable[[datetime], Awaitable[T]], before: datetime) -> AsyncIterator[T]:
    """Forget batch after batch, and rest as long as each one took, so that others get their turn."""
    loop = asyncio.get_running_loop()
    while True:
        began = loop.time()
        batch = await forget(before)
        if not batch:
            return
        yield batch
        await asyncio.sleep(loop.time() - began)
