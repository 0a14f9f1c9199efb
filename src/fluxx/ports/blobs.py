"""What a blob store promises: streamed writes made visible in one step, streamed reads, signed URLs."""

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol

import msgspec


class Stored(msgspec.Struct, frozen=True):
    """What was written: ``size`` in bytes, ``sha256`` in hex."""

    size: int
    sha256: str


class Opened(msgspec.Struct, frozen=True):
    """A blob being read: its whole ``size``, and the wanted ``chunks``."""

    size: int
    chunks: AsyncIterator[bytes]


class Blobs(Protocol):
    """Paths are relative, ``/``-separated and made of ids only; a path that leads outside is ``BadInput``."""

    async def write(
        self, path: str, content: bytes | AsyncIterable[bytes], *, content_type: str, once: bool = False
    ) -> Stored:
        """Store ``content`` under ``path``, replacing what was there.

        Readers see the old content or all of the new, never a part; an iterator that raises leaves
        nothing behind and its error comes through. Memory stays constant for an iterator.

        Written ``once``, what is there already stays, and is what is returned: of all who ever write so,
        at the same time or late, the first one counts.
        """
        ...

    def open(self, path: str, *, start: int = 0, end: int | None = None) -> AbstractAsyncContextManager[Opened]:
        """Open a blob for reading from byte ``start`` to before ``end``; raises ``NotFound``."""
        ...

    async def delete(self, path: str) -> None:
        """Remove a blob; one that isn't there is fine."""
        ...

    async def signed_url(self, path: str, *, expires_at: datetime) -> str:
        """Return a URL that reads this one blob until ``expires_at`` and allows nothing else."""
        ...

    async def check(self) -> None:
        """Raise ``Misconfigured`` or ``Unavailable`` where blobs can't be written."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...
