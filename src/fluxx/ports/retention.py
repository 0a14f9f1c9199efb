"""What the stores promise about forgetting: old history goes in small batches, live work never."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

import msgspec


class Outdated(msgspec.Struct, frozen=True):
    """Jobs that may be forgotten, with the paths of their results and the files they worked on."""

    job_ids: Sequence[UUID]
    result_paths: Sequence[str]
    file_ids: Sequence[UUID]


class Retention(Protocol):
    """The oldest first; every call is one short transaction."""

    async def outdated_jobs(self, before: datetime, *, limit: int) -> Outdated:
        """Return up to ``limit`` jobs that ended before ``before``, all their events published."""
        ...

    async def forget_jobs(self, job_ids: Sequence[UUID]) -> None:
        """Delete jobs with their history and events.

        Those that are live, or have an event to be published, are left alone.
        """
        ...

    async def jobless_files(self, file_ids: Sequence[UUID]) -> dict[UUID, str]:
        """Return those of the files that have no job left, with their paths."""
        ...

    async def outdated_files(self, before: datetime, *, limit: int) -> dict[UUID, str]:
        """Return up to ``limit`` files uploaded before ``before`` that have no job, with their paths."""
        ...

    async def forget_files(self, file_ids: Sequence[UUID]) -> None:
        """Delete files; those that have a job are left alone."""
        ...

    async def forget_messages(self, before: datetime, *, log: str, limit: int) -> int:
        """Delete up to ``limit`` old messages of the topic ``log``, and old dead letters; return how many.

        Only where topics are kept in the database; a broker has its own rules.
        """
        ...

    async def forget_minutes(self, before: datetime, *, limit: int) -> bool:
        """Delete what was counted in up to ``limit`` single minutes before a moment; say whether there was any.

        The sums since the beginning stay.
        """
        ...
