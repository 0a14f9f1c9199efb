"""What a secret store promises: extractors' API keys by ``ClientApplicationExtractorID`` (story 6)."""

from typing import Protocol
from uuid import UUID


class ApiKey(str):
    """An API key that doesn't show itself: ``repr`` and ``format`` are masked, ``reveal`` is explicit."""

    __slots__ = ()

    def reveal(self) -> str:
        """Return the key itself, for the one header that carries it."""
        return str.__str__(self)

    def __repr__(self) -> str:
        """Return a mask."""
        return "ApiKey(***)"

    def __str__(self) -> str:
        """Return a mask."""
        return "***"

    def __format__(self, spec: str) -> str:
        """Return a mask."""
        return "***"


class Secrets(Protocol):
    """The vault."""

    async def api_key(self, extractor_id: UUID, *, fresh: bool = False) -> ApiKey:
        """Return the extractor's key; ``fresh`` passes over any cache (keys rotate).

        Raises ``SecretMissing`` where the vault has none, ``Unavailable`` where it can't be asked.
        """
        ...

    async def set_api_key(self, extractor_id: UUID, key: ApiKey) -> None:
        """Store or replace the extractor's key."""
        ...

    async def delete_api_key(self, extractor_id: UUID) -> None:
        """Remove the extractor's key; one that isn't there is fine."""
        ...

    async def check(self) -> None:
        """Raise ``Misconfigured`` or ``Unavailable`` where keys can't be read."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...
