"""The jobs' reader: one job, a page of jobs, histories. Nothing here counts or scans a big table."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, select

from fluxx.adapters.sql.connections import Connections
from fluxx.adapters.sql.listing import listing
from fluxx.adapters.sql.rows import job_of, status_of
from fluxx.adapters.sql.tables import job, job_status
from fluxx.errors import NotFound
from fluxx.model.job import Job, JobStatus
from fluxx.ports.jobs import JobFilter, Position

JOB: Final = select(job).where(job.c.JobID == bindparam("job_id"))
HISTORIES: Final = (
    select(job_status)
    .where(job_status.c.JobID.in_(bindparam("job_ids", expanding=True)))
    .order_by(job_status.c.JobID, job_status.c.JobStatusID)  # IX_JobStatus_JobID
)


class SqlReader:
    """Keeps the promises of ``ports.jobs.JobReader``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def job(self, job_id: UUID) -> Job:
        """See ``JobReader.job``."""
        values = {"job_id": job_id}
        row = await self._connections.read(lambda connection: connection.execute(JOB, values).one_or_none())
        if row is None:
            raise NotFound(f"There is no job {job_id}.")
        return job_of(row)

    async def jobs(self, wanted: JobFilter, *, limit: int, after: Position | None = None) -> Sequence[Job]:
        """See ``JobReader.jobs``."""
        statement, values = listing(wanted, limit=limit, after=after)
        rows = await self._connections.read(lambda connection: connection.execute(statement, values).all())
        return [job_of(row) for row in rows]

    async def histories(self, job_ids: Sequence[UUID]) -> dict[UUID, Sequence[JobStatus]]:
        """See ``JobReader.histories``."""
        found: dict[UUID, Sequence[JobStatus]] = {job_id: [] for job_id in job_ids}
        if not found:
            return found
        values = {"job_ids": list(found)}
        rows = await self._connections.read(lambda connection: connection.execute(HISTORIES, values).all())
        for job_id, lines in groupby(map(status_of, rows), key=lambda line: line.job_id):
            found[job_id] = list(lines)
        return found
