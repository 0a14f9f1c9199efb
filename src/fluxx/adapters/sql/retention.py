"""Forgetting: small ordered batches along the indexes, so that workers hardly notice."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, func, or_, select

from fluxx.adapters.sql.connections import Connections
from fluxx.adapters.sql.rollups import ALL_MINUTES
from fluxx.adapters.sql.tables import bus_message, file, job, job_status, outbox, rollup, waiting_file
from fluxx.ports.retention import Outdated


class SqlRetention:
    """Keeps the promises of ``ports.retention.Retention``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def outdated_jobs(self, before: datetime, *, limit: int) -> Outdated:
        """See ``Retention.outdated_jobs``."""
        statement = (
            select(job.c.JobID, job.c.FileId, job.c.ExtractorResponse)
            .where(job.c.CreatedAt < before, job.c.CompletedAt < before, _is_over())
            .order_by(job.c.CreatedAt, job.c.JobID)  # IX_Job_CreatedAt
            .limit(limit)
        )
        rows = await self._connections.read(lambda connection: connection.execute(statement).all())
        return Outdated(
            [row.JobID for row in rows],
            [row.ExtractorResponse for row in rows if row.ExtractorResponse],
            list({row.FileId for row in rows}),
        )

    async def forget_jobs(self, job_ids: Sequence[UUID]) -> None:
        """See ``Retention.forget_jobs``."""

        def work(connection: Connection) -> None:
            ending = select(job.c.JobID).where(job.c.JobID.in_(job_ids), _is_over()).order_by(job.c.JobID)
            ended = list(connection.scalars(ending))
            # Final jobs are written by nobody else, so it is no matter that their rows go last.
            connection.execute(delete(job_status).where(job_status.c.JobID.in_(ended)))
            connection.execute(delete(outbox).where(outbox.c.JobID.in_(ended)))
            connection.execute(delete(job).where(job.c.JobID.in_(ended)))

        await self._connections.write(work)

    async def jobless_files(self, file_ids: Sequence[UUID]) -> dict[UUID, str]:
        """See ``Retention.jobless_files``."""
        statement = select(file.c.FileID, file.c.BlobPath).where(file.c.FileID.in_(file_ids), ~_has_job())
        rows = await self._connections.read(lambda connection: connection.execute(statement).all())
        return {row.FileID: row.BlobPath for row in rows}

    async def outdated_files(self, before: datetime, *, limit: int) -> dict[UUID, str]:
        """See ``Retention.outdated_files``."""
        statement = (
            select(file.c.FileID, file.c.BlobPath)
            .where(file.c.CreatedAt < before, ~_has_job())
            .order_by(file.c.CreatedAt)  # IX_File_CreatedAt
            .limit(limit)
        )
        rows = await self._connections.read(lambda connection: connection.execute(statement).all())
        return {row.FileID: row.BlobPath for row in rows}

    async def forget_files(self, file_ids: Sequence[UUID]) -> None:
        """See ``Retention.forget_files``."""
        statement = delete(file).where(file.c.FileID.in_(file_ids), ~_has_job())
        waiting = delete(waiting_file).where(waiting_file.c.FileID.in_(file_ids))

        def work(connection: Connection) -> None:
            connection.execute(statement)
            connection.execute(waiting)

        await self._connections.write(work)

    async def forget_messages(self, before: datetime, *, log: str, limit: int) -> int:
        """See ``Retention.forget_messages``."""
        settled = or_(bus_message.c.DeadLetterReason.is_not(None), bus_message.c.Topic == log)
        # Numbers grow with time: the first ones along the primary key are the oldest, and where those
        # are too young no other has to be looked at.
        oldest = (
            select(bus_message.c.BusMessageID, bus_message.c.EnqueuedAt)
            .where(settled)
            .order_by(bus_message.c.BusMessageID)
            .limit(limit)
        )

        def work(connection: Connection) -> int:
            old = [row.BusMessageID for row in connection.execute(oldest) if row.EnqueuedAt < before]
            connection.execute(delete(bus_message).where(bus_message.c.BusMessageID.in_(old)))
            return len(old)

        return await self._connections.write(work)

    async def forget_minutes(self, before: datetime, *, limit: int) -> bool:
        """See ``Retention.forget_minutes``."""
        single = rollup.c.Minute > ALL_MINUTES
        oldest = select(func.min(rollup.c.Minute)).where(single)  # PK_Rollup: its first entry but those of all minutes

        def work(connection: Connection) -> bool:
            first: datetime | None = connection.scalar(oldest)
            if first is None or first >= before:
                return False
            end = min(first + timedelta(minutes=limit), before)
            connection.execute(delete(rollup).where(single, rollup.c.Minute < end))
            return True

        return await self._connections.write(work)


def _is_over() -> ColumnElement[bool]:
    """Whether nothing will happen for the job any more: it is final, and everybody was told."""
    waiting = exists().where(outbox.c.JobID == job.c.JobID, outbox.c.PublishedAt.is_(None))  # IX_Outbox_JobID
    return and_(job.c.DueAt.is_(None), ~waiting)


def _has_job() -> ColumnElement[bool]:
    return exists().where(job.c.FileId == file.c.FileID)  # UQ_Job_FileId_…
