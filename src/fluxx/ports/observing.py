"""What the database promises to whoever watches the service as a whole: numbers without counting.

The sums stand in rows of their own, written in the transactions that they tell of; every method reads
a few rows along an index, however many jobs there are.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

import msgspec

from fluxx.model.counts import Counts


class Minute(msgspec.Struct, frozen=True):
    """How many jobs succeeded and failed in the minute that began ``at``."""

    at: datetime
    succeeded: int
    failed: int


WAITING_DAYS: Final = 1
"""A file that has waited for longer is given up: its message is taken for lost, and retention may have the file."""


class Backlog(msgspec.Struct, frozen=True, kw_only=True):
    """What waits the longest, and since when: None where nothing does.

    A file of the last ``WAITING_DAYS`` waits to be turned into jobs, a job is due, an event is unpublished.
    """

    oldest_file_at: datetime | None = None
    oldest_due_at: datetime | None = None
    oldest_event_at: datetime | None = None


class SentEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One event of a job: its type (``JobQueued`` …), when it was written, when published (None: not yet)."""

    type: str
    written_at: datetime
    published_at: datetime | None


class Observer(Protocol):
    """The numbers."""

    async def since_the_beginning(self) -> Mapping[UUID, Counts]:
        """Return the counts of each extractor from its first job on, forgotten jobs included."""
        ...

    async def since(self, moment: datetime, *, until: datetime | None = None) -> Mapping[UUID, Counts]:
        """Return the counts of each extractor since the minute of ``moment``, before the minute of ``until``."""
        ...

    async def minutes(
        self, since: datetime, *, until: datetime | None = None, extractors: Sequence[UUID] | None = None
    ) -> Sequence[Minute]:
        """Return the minutes in which something happened, oldest first; all extractors, or the sum of some."""
        ...

    async def minutes_of_each(self, since: datetime) -> Mapping[UUID, Sequence[Minute]]:
        """Return the minutes of each extractor, oldest first."""
        ...

    async def backlog(self) -> Backlog:
        """Return what waits the longest."""
        ...

    async def events(self, job_id: UUID) -> Sequence[SentEvent]:
        """Return a job's events in their order."""
        ...
