"""What the steps must know about a job's extractor and file, remembered for a short while.

Thousands of polls a second ask about a few extractors; a change of a registration is seen by
running workers after ``MEMORY`` seconds at the latest. What is asked for at the same time,
as after a claim, is read together.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar
from uuid import UUID

from fluxx.errors import NotFound
from fluxx.loops.gathering import Gatherer
from fluxx.model.job import Extractor, File
from fluxx.ports.registrations import FileStore, RegistrationStore

MEMORY: Final = 15.0
"""Seconds that an extractor or a file is trusted."""
LARGEST: Final = 10_000
"""Entries remembered at the most; then all are forgotten at once, which costs a few queries."""

TOGETHER: Final = 200
"""Ids read in one query at the most."""

T = TypeVar("T")


class Catalogue:
    """Extractors and files by id. Both methods raise ``NotFound`` and ``Unavailable``."""

    def __init__(self, *, registrations: RegistrationStore, files: FileStore) -> None:
        self._registrations = registrations
        self._extractors = _Memory("extractor", self._read_extractors)
        self._files = _Memory("file", files.files)

    async def extractor(self, extractor_id: UUID) -> Extractor:
        """Return the extractor, active or not: started jobs are seen through."""
        return self._extractors.known(extractor_id) or await self._extractors.fetched(extractor_id)

    async def file(self, file_id: UUID) -> File:
        """Return the file."""
        return self._files.known(file_id) or await self._files.fetched(file_id)

    async def _read_extractors(self, extractor_ids: Sequence[UUID]) -> dict[UUID, Extractor]:
        return {extractor_id: await self._registrations.extractor(extractor_id) for extractor_id in extractor_ids}


class _Memory(Generic[T]):
    """Values by id; ids that are asked for at the same time are fetched together, each once."""

    def __init__(self, kind: str, fetch: Callable[[Sequence[UUID]], Awaitable[dict[UUID, T]]]) -> None:
        self._kind = kind
        self._fetch = fetch
        self._known: dict[int, tuple[float, T]] = {}  # by the number that the id is, as in the dispatcher
        self._fetching = Gatherer(self._fetch_together, limit=TOGETHER)

    def known(self, key: UUID) -> T | None:
        remembered = self._known.get(key.int)
        if remembered is not None and asyncio.get_running_loop().time() - remembered[0] < MEMORY:
            return remembered[1]
        return None

    async def fetched(self, key: UUID) -> T:
        value = await self._fetching.add(key)
        if value is None:
            raise NotFound(f"There is no {self._kind} {key}.")
        return value

    async def _fetch_together(self, keys: Sequence[UUID]) -> Sequence[T | None]:
        found = await self._fetch(sorted(set(keys)))
        if len(self._known) + len(found) > LARGEST:
            self._known.clear()
        now = asyncio.get_running_loop().time()
        self._known.update((key.int, (now, value)) for key, value in found.items())
        return [found.get(key) for key in keys]
