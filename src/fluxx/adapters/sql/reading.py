"""The jobs' reader: one job, a page of jobs, histories. Nothing here counts or scans a big table."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, and_, or_, select

from fluxx.adapters.sql.connections import Connections
from fluxx.adapters.sql.rows import job_of, status_of
from fluxx.adapters.sql.tables import job, job_status
from fluxx.errors import NotFound
from fluxx.model.job import FINAL, Job, JobStatus
from fluxx.ports.jobs import JobFilter, Position

FILTERS: Final = {
    "client_application_id": job.c.ClientApplicationId,  # IX_Job_ClientApplicationId_CreatedAt
    "client_application_extractor_id": job.c.ClientApplicationExtractorID,  # IX_Job_ClientApplicationExtractorID_…
    "file_id": job.c.FileId,  # UQ_Job_FileId_…: a file has few jobs
}


class SqlReader:
    """Keeps the promises of ``ports.jobs.JobReader``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def job(self, job_id: UUID) -> Job:
        """See ``JobReader.job``."""
        statement = select(job).where(job.c.JobID == job_id)
        row = await self._connections.read(lambda connection: connection.execute(statement).one_or_none())
        if row is None:
            raise NotFound(f"There is no job {job_id}.")
        return job_of(row)

    async def jobs(self, wanted: JobFilter, *, limit: int, after: Position | None = None) -> Sequence[Job]:
        """See ``JobReader.jobs``."""
        statement = (
            select(job)
            .where(*_conditions(wanted), *_older(after))
            .order_by(job.c.CreatedAt.desc(), job.c.JobID.desc())  # IX_Job_CreatedAt, or the filter's index
            .limit(limit)
        )
        rows = await self._connections.read(lambda connection: connection.execute(statement).all())
        return [job_of(row) for row in rows]

    async def histories(self, job_ids: Sequence[UUID]) -> dict[UUID, Sequence[JobStatus]]:
        """See ``JobReader.histories``."""
        found: dict[UUID, Sequence[JobStatus]] = {job_id: [] for job_id in job_ids}
        statement = (
            select(job_status)
            .where(job_status.c.JobID.in_(found))
            .order_by(job_status.c.JobID, job_status.c.JobStatusID)  # IX_JobStatus_JobID
        )
        rows = await self._connections.read(lambda connection: connection.execute(statement).all())
        for job_id, lines in groupby(map(status_of, rows), key=lambda line: line.job_id):
            found[job_id] = list(lines)
        return found


def _conditions(wanted: JobFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [
        column == value for field, column in FILTERS.items() if (value := getattr(wanted, field)) is not None
    ]
    if wanted.file_ids is not None:
        conditions.append(job.c.FileId.in_(wanted.file_ids))  # as file_id
    if wanted.created_from is not None:
        conditions.append(job.c.CreatedAt >= wanted.created_from)  # bounds the walk along the listing's index
    if wanted.created_before is not None:
        conditions.append(job.c.CreatedAt < wanted.created_before)
    if wanted.status is not None:
        conditions.append(job.c.Status == wanted.status)  # IX_Job_Failed for the failed ones
        if wanted.status not in FINAL:
            conditions.append(job.c.DueAt.is_not(None))  # IX_Job_DueAt: live jobs are few
    return conditions


def _older(after: Position | None) -> list[ColumnElement[Any]]:
    if after is None:
        return []
    same_time = and_(job.c.CreatedAt == after.created_at, job.c.JobID < after.job_id)
    return [job.c.CreatedAt <= after.created_at, or_(job.c.CreatedAt < after.created_at, same_time)]
