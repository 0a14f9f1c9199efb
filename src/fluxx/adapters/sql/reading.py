"""The jobs' reader: one job, a page of jobs, histories. Nothing here counts or scans a big table."""

from collections.abc import Sequence
from functools import cache
from itertools import groupby
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Connection, Select, bindparam, select

from fluxx.adapters.sql.connections import Connections
from fluxx.adapters.sql.listing import listing
from fluxx.adapters.sql.rows import job_of, status_of
from fluxx.adapters.sql.tables import job, job_status
from fluxx.errors import NotFound
from fluxx.model.job import Job, JobStatus
from fluxx.ports.jobs import JobFilter, Position

JOB: Final = select(job).where(job.c.JobID == bindparam("job_id"))
HISTORY: Final = (
    select(job_status)
    .where(job_status.c.JobID == bindparam("job_id"))
    .order_by(job_status.c.JobStatusID)  # IX_JobStatus_JobID
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
        if not job_ids:
            return {}
        return await self._connections.read(lambda connection: _histories(connection, job_ids))

    async def job_with_history(self, job_id: UUID) -> tuple[Job, Sequence[JobStatus]]:
        """See ``JobReader.job_with_history``."""

        def read(connection: Connection) -> tuple[Job, Sequence[JobStatus]] | None:
            row = connection.execute(JOB, {"job_id": job_id}).one_or_none()
            return None if row is None else (job_of(row), _history(connection, job_id))

        found = await self._connections.read(read)
        if found is None:
            raise NotFound(f"There is no job {job_id}.")
        return found

    async def jobs_with_histories(
        self, wanted: JobFilter, *, limit: int, after: Position | None = None
    ) -> Sequence[tuple[Job, Sequence[JobStatus]]]:
        """See ``JobReader.jobs_with_histories``."""
        statement, values = listing(wanted, limit=limit, after=after)

        def read(connection: Connection) -> Sequence[tuple[Job, Sequence[JobStatus]]]:
            jobs = [job_of(row) for row in connection.execute(statement, values)]
            histories = _histories(connection, [one.job_id for one in jobs]) if jobs else {}
            return [(one, histories[one.job_id]) for one in jobs]

        return await self._connections.read(read)


def _history(connection: Connection, job_id: UUID) -> Sequence[JobStatus]:
    return [status_of(row) for row in connection.execute(HISTORY, {"job_id": job_id})]


def _histories(connection: Connection, job_ids: Sequence[UUID]) -> dict[UUID, Sequence[JobStatus]]:
    found: dict[UUID, Sequence[JobStatus]] = {job_id: [] for job_id in job_ids}
    values = {f"job_id_{place}": job_id for place, job_id in enumerate(found)}
    rows = connection.execute(_histories_of(len(values)), values)
    for job_id, lines in groupby(map(status_of, rows), key=lambda line: line.job_id):
        found[job_id] = list(lines)
    return found


@cache
def _histories_of(count: int) -> Select[Any]:
    """Return the statement for the histories of so many jobs: expanding a list costs as much as reading its rows."""
    wanted = [bindparam(f"job_id_{place}", type_=job_status.c.JobID.type) for place in range(count)]
    lines = select(job_status).where(job_status.c.JobID.in_(wanted))
    return lines.order_by(job_status.c.JobID, job_status.c.JobStatusID)  # IX_JobStatus_JobID
