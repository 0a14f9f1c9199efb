"""The numbers of the service, read from the rollups and from the first entries of three small indexes."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, Row, func, select

from fluxx.adapters.sql.connections import Connections
from fluxx.adapters.sql.rollups import ALL_MINUTES, COLUMNS, NAMES
from fluxx.adapters.sql.tables import job, outbox, rollup, waiting_file
from fluxx.clock import Clock
from fluxx.messages.job_status import TYPE_PREFIX, decode
from fluxx.model.counts import NO_TIMES, Counts
from fluxx.ports.observing import WAITING_DAYS, Backlog, Minute, SentEvent

SINGLE: Final = len(NAMES) - len(NO_TIMES)
SUMS: Final = tuple(func.sum(rollup.c[name]).label(name) for name in COLUMNS)
ENDS: Final = (func.sum(rollup.c.Succeeded), func.sum(rollup.c.Failed))


class SqlObserver:
    """Keeps the promises of ``ports.observing.Observer``."""

    def __init__(self, connections: Connections, *, clock: Clock) -> None:
        self._connections = connections
        self._clock = clock

    async def since_the_beginning(self) -> Mapping[UUID, Counts]:
        """See ``Observer.since_the_beginning``."""
        return await self._by_extractor(rollup.c.Minute == ALL_MINUTES)

    async def since(self, moment: datetime, *, until: datetime | None = None) -> Mapping[UUID, Counts]:
        """See ``Observer.since``."""
        return await self._by_extractor(_between(moment, until))

    async def _by_extractor(self, condition: ColumnElement[bool]) -> Mapping[UUID, Counts]:
        extractor = rollup.c.ClientApplicationExtractorID
        statement = select(extractor, *SUMS).where(condition).group_by(extractor)  # PK_Rollup
        rows = await self._connections.read(lambda connection: connection.execute(statement).all())
        return {row[0]: _counts_of(row) for row in rows}

    async def minutes(
        self, since: datetime, *, until: datetime | None = None, extractors: Sequence[UUID] | None = None
    ) -> Sequence[Minute]:
        """See ``Observer.minutes``."""
        minute = rollup.c.Minute
        statement = select(minute, *ENDS).where(_between(since, until)).group_by(minute).order_by(minute)  # PK_Rollup
        if extractors is not None:
            statement = statement.where(rollup.c.ClientApplicationExtractorID.in_(extractors))
        rows = await self._connections.read(lambda connection: connection.execute(statement).all())
        return [Minute(at, int(succeeded), int(failed)) for at, succeeded, failed in rows]

    async def minutes_of_each(self, since: datetime) -> Mapping[UUID, Sequence[Minute]]:
        """See ``Observer.minutes_of_each``."""
        key = (rollup.c.Minute, rollup.c.ClientApplicationExtractorID)
        statement = select(*key, *ENDS).where(_between(since, None)).group_by(*key).order_by(*key)  # PK_Rollup
        rows = await self._connections.read(lambda connection: connection.execute(statement).all())
        found: dict[UUID, list[Minute]] = {}
        for at, extractor, succeeded, failed in rows:
            found.setdefault(extractor, []).append(Minute(at, int(succeeded), int(failed)))
        return found

    async def backlog(self) -> Backlog:
        """See ``Observer.backlog``."""
        young = self._clock.now() - timedelta(days=WAITING_DAYS)
        waiting = select(func.min(waiting_file.c.Since)).where(waiting_file.c.Since > young)  # IX_WaitingFile_Since
        due = select(func.min(job.c.DueAt)).where(job.c.DueAt.is_not(None))  # IX_Job_DueAt: its first entry
        event = (
            select(outbox.c.CreatedAt)
            .where(outbox.c.PublishedAt.is_(None))
            .order_by(outbox.c.OutboxID)  # IX_Outbox_Unpublished: its first entry
            .limit(1)
        )

        def work(connection: Connection) -> Backlog:
            return Backlog(
                oldest_file_at=connection.scalar(waiting),
                oldest_due_at=connection.scalar(due),
                oldest_event_at=connection.scalar(event),
            )

        return await self._connections.read(work)

    async def events(self, job_id: UUID) -> Sequence[SentEvent]:
        """See ``Observer.events``."""
        statement = select(outbox).where(outbox.c.JobID == job_id).order_by(outbox.c.OutboxID)  # IX_Outbox_JobID
        rows = await self._connections.read(lambda connection: connection.execute(statement).all())
        return [
            SentEvent(
                type=decode(row.Body.encode()).type.removeprefix(TYPE_PREFIX),
                written_at=row.CreatedAt,
                published_at=row.PublishedAt,
            )
            for row in rows
        ]


def _between(since: datetime, until: datetime | None) -> ColumnElement[bool]:
    """Return the condition on the minute: along PK_Rollup."""
    begun = rollup.c.Minute >= _minute_of(since)
    return begun if until is None else begun & (rollup.c.Minute < _minute_of(until))


def _minute_of(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)


def _counts_of(row: Row[Any]) -> Counts:
    """Return the counts after the row's key; sums come as decimals from some drivers."""
    values: Sequence[Any] = row[1:]
    numbers = [int(value) for value in values]
    return Counts(**dict(zip(NAMES[:SINGLE], numbers, strict=False)), times=tuple(numbers[SINGLE:]))
