"""What the steps must know about a job's extractor and file, remembered for a short while.

Thousands of polls a second ask about a few extractors; a change of a registration is seen by
running workers after ``MEMORY`` seconds at the latest.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar
from uuid import UUID

from fluxx.clock import Clock
from fluxx.model.job import Extractor, File
from fluxx.ports.registrations import FileStore, RegistrationStore

MEMORY: Final = timedelta(seconds=15)
LARGEST: Final = 10_000
"""Entries remembered at the most; then all are forgotten at once, which costs a few queries."""

T = TypeVar("T")


class Catalogue:
    """Extractors and files by id. Both methods raise ``NotFound`` and ``Unavailable``."""

    def __init__(self, *, registrations: RegistrationStore, files: FileStore, clock: Clock) -> None:
        self._extractors = _Memory(registrations.extractor, clock)
        self._files = _Memory(files.file, clock)

    async def extractor(self, extractor_id: UUID) -> Extractor:
        """Return the extractor, active or not: started jobs are seen through."""
        return await self._extractors.get(extractor_id)

    async def file(self, file_id: UUID) -> File:
        """Return the file."""
        return await self._files.get(file_id)


class _Memory(Generic[T]):
    def __init__(self, fetch: Callable[[UUID], Awaitable[T]], clock: Clock) -> None:
        self._fetch = fetch
        self._clock = clock
        self._known: dict[UUID, tuple[datetime, T]] = {}

    async def get(self, key: UUID) -> T:
        now = self._clock.now()
        remembered = self._known.get(key)
        if remembered is not None and now - remembered[0] < MEMORY:
            return remembered[1]
        value = await self._fetch(key)
        if len(self._known) >= LARGEST:
            self._known.clear()
        self._known[key] = (now, value)
        return value
