"""What the database promises to whoever follows all jobs live: every line of history, soon, once or twice."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

import msgspec

from fluxx.model.job import Status


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a job's history with what the job is about. ``change_id`` grows with time, with gaps."""

    change_id: int
    job_id: UUID
    file_id: UUID
    client_application_id: UUID
    client_application_extractor_id: UUID
    status: Status
    message: str | None
    attempt_number: int
    timestamp: datetime


class Changes(Protocol):
    """The lines of all histories, in the order of their numbers; one query a call."""

    async def newest(self, *, limit: int) -> Sequence[Change]:
        """Return the last ``limit`` changes, oldest first."""
        ...

    async def after(self, change_id: int, *, missing: Sequence[int], limit: int) -> Sequence[Change]:
        """Return up to ``limit`` changes beyond ``change_id``, and those of ``missing`` that are there, oldest first.

        A number may be committed later than a higher one: such gaps are asked for again as ``missing``. So is the last
        one that was seen: where it is gone, numbers may come a second time.
        """
        ...
