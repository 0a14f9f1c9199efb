"""What the database promises about jobs: accepting, claiming, finishing, reading."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

import msgspec

from fluxx.model.job import File, Job, JobStatus, Status
from fluxx.model.transitions import Transition


class Acceptance(msgspec.Struct, frozen=True):
    """What one accepted-file message asks for: the transitions that queue the jobs of a file, perhaps none.

    ``file`` is given where the file may be unknown to the database (kept upstream).
    """

    file_id: UUID
    transitions: tuple[Transition, ...]
    file: File | None = None


class Accepted(msgspec.Struct, frozen=True):
    """What there is after an acceptance: the jobs that are ``new``, and those that existed already."""

    new: Sequence[Job]
    known: Sequence[Job] = ()


class Claim(msgspec.Struct, frozen=True):
    """The right to write one job, until the lease ends or somebody else claims it."""

    job_id: UUID
    claim_token: UUID


class Due(msgspec.Struct, frozen=True):
    """What a claim brought: jobs, each with its fresh ``claim_token``, the longest due first.

    ``next_due_at`` says when the next job falls due, and is looked up only where nothing was due now;
    None where more may be waiting already or no live job is left.
    """

    jobs: Sequence[Job]
    next_due_at: datetime | None = None


class JobFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which jobs a listing shows; None means any. Created from one moment on, and before another."""

    status: Status | None = None
    client_application_id: UUID | None = None
    client_application_extractor_id: UUID | None = None
    file_id: UUID | None = None
    file_ids: Sequence[UUID] | None = None
    created_from: datetime | None = None
    created_before: datetime | None = None


class Position(msgspec.Struct, frozen=True):
    """A place in a newest-first listing: what comes after it is older, or as old with a lesser id."""

    created_at: datetime
    job_id: UUID


class JobStore(Protocol):
    """The jobs' only writer. Every write is one transaction; concurrent ones may share it."""

    async def accept(self, acceptance: Acceptance) -> Accepted:
        """Insert the jobs, their first history rows and events; the file waits no longer (``FileStore.add_file``).

        A job whose (file, extractor, idempotency key) exists already is left alone: calling it
        twice changes nothing. Raises ``NotFound`` where the file or an extractor doesn't exist.
        """
        ...

    async def claim(
        self, *, lease: float, limit: int, without: frozenset[UUID] = frozenset(), ahead: float = 0.0
    ) -> Due:
        """Claim up to ``limit`` due jobs for ``lease`` seconds, leaving out the extractors ``without``.

        Jobs that fall due within ``ahead`` seconds count as due. One statement; two callers never get the same
        job. Fewer than are due may come back.
        """
        ...

    async def seize(self, job_id: UUID, *, lease: float) -> Job:
        """Claim this one job whether due or not, taking it from whoever holds it.

        Raises ``NotFound``, or ``Conflict`` where it is final.
        """
        ...

    async def renew(self, claims: Sequence[Claim], *, lease: float) -> Sequence[Claim]:
        """Let the claims last ``lease`` seconds from now; return those that are still held."""
        ...

    async def release(self, claims: Mapping[Claim, datetime]) -> None:
        """Give claims back: each job falls due when it says. Lost claims are passed over."""
        ...

    async def apply(self, transition: Transition) -> bool:
        """Write a transition fenced by its claim token; False where the claim was lost (nothing written).

        A job that has a claim token afterwards is kept (``model.keeping``): nobody else gets it before it is due.
        """
        ...


class JobReader(Protocol):
    """What the job API and the operators read (story 14)."""

    async def job(self, job_id: UUID) -> Job:
        """Return one job; raises ``NotFound``."""
        ...

    async def jobs(self, wanted: JobFilter, *, limit: int, after: Position | None = None) -> Sequence[Job]:
        """Return up to ``limit`` jobs, newest first, older than ``after``."""
        ...

    async def job_with_history(self, job_id: UUID) -> tuple[Job, Sequence[JobStatus]]:
        """Return one job and its history, oldest first, read together; raises ``NotFound``."""
        ...

    async def jobs_with_histories(
        self, wanted: JobFilter, *, limit: int, after: Position | None = None
    ) -> Sequence[tuple[Job, Sequence[JobStatus]]]:
        """Return what ``jobs`` returns, each with its history, read together."""
        ...

    async def histories(self, job_ids: Sequence[UUID]) -> dict[UUID, Sequence[JobStatus]]:
        """Return the history of each of the jobs, oldest first; every id asked for is a key."""
        ...
