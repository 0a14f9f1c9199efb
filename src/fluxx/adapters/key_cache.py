"""A small cache in front of a secret store: jobs poll often, keys change seldom. Failures aren't kept."""

import asyncio
from typing import Final
from uuid import UUID

from fluxx.adapters.shared_calls import SharedCalls
from fluxx.ports.secrets import ApiKey, Secrets

FOLDER_LIFETIME: Final = 5.0
"""Seconds that a key from a file is trusted: a file changed by hand counts soon, a poll needn't hop to a thread."""
VAULT_LIFETIME: Final = 300.0
"""Seconds that a key from a Key Vault is trusted. A key that an extractor refuses is read anew before that."""


class CachedSecrets:
    """The ``Secrets`` port on another one, whose keys are trusted for ``lifetime`` seconds of the event loop's time."""

    def __init__(self, secrets: Secrets, *, lifetime: float) -> None:
        self._secrets = secrets
        self._lifetime = lifetime
        self._known: dict[UUID, tuple[float, ApiKey]] = {}
        self._reads = SharedCalls(self._remembered_read)
        self._changed_at = float("-inf")

    async def api_key(self, extractor_id: UUID, *, fresh: bool = False) -> ApiKey:
        """Return the key, read anew where it is old or ``fresh`` is wished; see the port."""
        known = None if fresh else self._known.get(extractor_id)
        if known is not None and asyncio.get_running_loop().time() - known[0] < self._lifetime:
            return known[1]
        return await self._reads.get(extractor_id)

    async def set_api_key(self, extractor_id: UUID, key: ApiKey) -> None:
        """See the port."""
        try:
            await self._secrets.set_api_key(extractor_id, key)
        finally:
            self._forget(extractor_id)

    async def delete_api_key(self, extractor_id: UUID) -> None:
        """See the port."""
        try:
            await self._secrets.delete_api_key(extractor_id)
        finally:
            self._forget(extractor_id)

    async def check(self) -> None:
        """See the port: asks the store itself."""
        await self._secrets.check()

    async def close(self) -> None:
        """See the port."""
        await self._secrets.close()

    def _forget(self, extractor_id: UUID) -> None:
        """Let the next call read anew: the key was changed, or perhaps."""
        self._changed_at = asyncio.get_running_loop().time()
        self._known.pop(extractor_id, None)
        self._reads.forget(extractor_id)

    async def _remembered_read(self, extractor_id: UUID) -> ApiKey:
        asked_at = asyncio.get_running_loop().time()
        self._known.pop(extractor_id, None)
        key = await self._secrets.api_key(extractor_id, fresh=True)
        if asked_at > self._changed_at:  # a read that began before a change may bring the old key
            self._known[extractor_id] = (asked_at, key)
        return key
