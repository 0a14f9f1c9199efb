"""A small cache in front of a secret store: jobs poll often, keys change seldom. Failures aren't kept."""

import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID

from fluxx.adapters.shared_calls import SharedCalls
from fluxx.ports.secrets import ApiKey


class KeyCache:
    """Keeps what ``read`` returned for ``lifetime`` seconds of the event loop's time."""

    def __init__(self, read: Callable[[UUID], Awaitable[ApiKey]], lifetime: float) -> None:
        self._read = read
        self._lifetime = lifetime
        self._known: dict[UUID, tuple[float, ApiKey]] = {}
        self._reads = SharedCalls(self._remembered_read)
        self._changed_at = float("-inf")

    async def get(self, extractor_id: UUID, *, fresh: bool = False) -> ApiKey:
        """Return the key, read anew where it is old or ``fresh`` is wished; raises what ``read`` raises."""
        read_at, key = self._known.get(extractor_id, (float("-inf"), None))
        if key is not None and not fresh and asyncio.get_running_loop().time() - read_at < self._lifetime:
            return key
        return await self._reads.get(extractor_id)

    def forget(self, extractor_id: UUID) -> None:
        """Let the next ``get`` read anew: the key was changed."""
        self._changed_at = asyncio.get_running_loop().time()
        self._known.pop(extractor_id, None)
        self._reads.forget(extractor_id)

    async def _remembered_read(self, extractor_id: UUID) -> ApiKey:
        asked_at = asyncio.get_running_loop().time()
        self._known.pop(extractor_id, None)
        key = await self._read(extractor_id)
        if asked_at > self._changed_at:  # a read that began before a change may bring the old key
            self._known[extractor_id] = (asked_at, key)
        return key
