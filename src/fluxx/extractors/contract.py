"""Extractor contract v1 as the extractor sees it: what comes in, what goes out, what stands behind it.

``server.py`` speaks it over HTTP; ``jobs.py`` (real work) and ``simulator.py`` (pretended work) are
the two backends behind it. The contract for people is ``docs/extractor-contract.md``.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Final, Literal, Protocol, TypeAlias

import msgspec

from fluxx.errors import FluxxError

Kind: TypeAlias = Literal["text", "tables", "simulator"]
"""What an extractor does; also the first segment of its path."""

JobId: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9._~-]{1,128}$")]
"""Any id that needs no quoting in a URL; Fluxx sends UUIDs."""

CHUNK_BYTES: Final = 64 * 1024
"""Results travel in pieces of this many bytes."""


class Submission(msgspec.Struct, frozen=True, rename="camel"):
    """The body of a submission. ``file_url`` is an absolute http or https URL."""

    file_url: Annotated[str, msgspec.Meta(pattern=r"^https?://[^/\s]+")]
    job_id: JobId


class Failure(msgspec.Struct, frozen=True):
    """Why there is no result: a stable ``code`` for programs, a ``message`` for people."""

    code: str
    message: str


class CannotExtract(FluxxError):
    """The job fails, for the reason in ``failure``."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.failure = Failure(code, message)


class NotReadyYet(msgspec.Struct, frozen=True):
    """Ask again, after ``retry_after`` seconds if that can be told."""

    retry_after: int | None = None


class Inline(msgspec.Struct, frozen=True):
    """The result itself: one JSON value, byte for byte."""

    content: bytes


class Elsewhere(msgspec.Struct, frozen=True):
    """The result is too large for the answer: it is streamed to whoever knows its ``token``."""

    token: str


State: TypeAlias = NotReadyYet | Inline | Elsewhere | Failure


class Streamed(msgspec.Struct, frozen=True):
    """A result being read: its whole ``size`` in bytes, and the pieces."""

    size: int
    chunks: AsyncIterator[bytes]


class Backend(Protocol):
    """The jobs of one kind. Every method raises ``Unavailable`` where the caller should try again later."""

    async def submit(self, submission: Submission) -> bool:
        """Take the job and return True, or return False where a job of that id is known already."""
        ...

    async def look(self, job_id: str) -> State:
        """Return how far the job is; raise ``NotFound`` for one that is unknown or long forgotten."""
        ...

    def result(self, token: str) -> AbstractAsyncContextManager[Streamed]:
        """Open the result that ``Elsewhere`` spoke of; raise ``NotFound``."""
        ...

    async def close(self) -> None:
        """Drop all jobs, whatever their state."""
        ...
