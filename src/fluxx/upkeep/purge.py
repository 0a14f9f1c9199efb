"""Purge: forgets jobs, files and events that ended long ago, blobs first.

A blob goes before the rows that name it, so that a purge cut short is finished by the next one.
Used by the retention loop (``RETENTION_DAYS``) and by ``fluxx db purge``.
"""

from datetime import datetime, timedelta
from typing import Final

import msgspec

from fluxx.clock import Clock
from fluxx.ports.blobs import Blobs
from fluxx.ports.retention import Retention
from fluxx.telemetry import PURGED, Facts

BATCH: Final = 200
"""Rows forgotten in one transaction: short enough for nobody to wait."""

REST: Final = 3600.0
"""Seconds between two rounds of the loop."""


class Forgotten(msgspec.Struct, frozen=True):
    """How much a purge removed."""

    jobs: int = 0
    files: int = 0
    messages: int = 0


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
        forgotten = Forgotten(await self._jobs(before), await self._files(before), await self._messages(before))
        self._facts.tell(PURGED, jobs=forgotten.jobs, files=forgotten.files, messages=forgotten.messages)
        return forgotten

    async def _jobs(self, before: datetime) -> int:
        count = 0
        while (outdated := await self._retention.outdated_jobs(before, limit=BATCH)).job_ids:
            for path in outdated.result_paths:
                await self._blobs.delete(path)
            await self._retention.forget_jobs(outdated.job_ids)
            count += len(outdated.job_ids)
        return count

    async def _files(self, before: datetime) -> int:
        count = 0
        while outdated := await self._retention.outdated_files(before, limit=BATCH):
            for path in outdated.values():
                await self._blobs.delete(path)
            await self._retention.forget_files(list(outdated))
            count += len(outdated)
        return count

    async def _messages(self, before: datetime) -> int:
        count = 0
        while gone := await self._retention.forget_messages(before, log=self._log, limit=BATCH):
            count += gone
        return count
