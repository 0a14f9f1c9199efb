"""A small cache in front of a secret store: jobs poll often, keys change seldom.

Callers that want the same key at the same time share one read. Failures aren't remembered.
"""

import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID

from fluxx.ports.secrets import ApiKey


class KeyCache:
    """Keeps what ``read`` returned for ``lifetime`` seconds of the event loop's time."""

    def __init__(self, read: Callable[[UUID], Awaitable[ApiKey]], lifetime: float) -> None:
        self._read = read
        self._lifetime = lifetime
        self._known: dict[UUID, tuple[float, ApiKey]] = {}
        self._reading: dict[UUID, asyncio.Task[ApiKey]] = {}

    async def get(self, extractor_id: UUID, *, fresh: bool = False) -> ApiKey:
        """Return the key, read anew where it is old or ``fresh`` is wished; raises what ``read`` raises."""
        read_at, key = self._known.get(extractor_id, (float("-inf"), None))
        if key is not None and not fresh and asyncio.get_running_loop().time() - read_at < self._lifetime:
            return key
        # Shielded: one caller that gives up must not take the read away from the others.
        return await asyncio.shield(self._shared_read(extractor_id))

    def forget(self, extractor_id: UUID) -> None:
        """Let the next ``get`` read anew: the key was changed."""
        self._known.pop(extractor_id, None)
        self._reading.pop(extractor_id, None)

    def _shared_read(self, extractor_id: UUID) -> asyncio.Task[ApiKey]:
        task = self._reading.get(extractor_id)
        if task is None:
            task = asyncio.create_task(self._remembered_read(extractor_id), name=f"key {extractor_id}")
            self._reading[extractor_id] = task
            task.add_done_callback(lambda done: self._done(extractor_id, done))
        return task

    async def _remembered_read(self, extractor_id: UUID) -> ApiKey:
        asked_at = asyncio.get_running_loop().time()
        key = await self._read(extractor_id)
        if self._reading.get(extractor_id) is asyncio.current_task():
            self._known[extractor_id] = (asked_at, key)
        return key

    def _done(self, extractor_id: UUID, task: asyncio.Task[ApiKey]) -> None:
        if self._reading.get(extractor_id) is task:
            del self._reading[extractor_id]
        if not task.cancelled() and task.exception() is not None:
            self._known.pop(extractor_id, None)
