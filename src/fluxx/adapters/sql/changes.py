"""The histories of all jobs as one stream, read along the primary key."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Select, or_, select

from fluxx.adapters.sql.connections import Connections
from fluxx.adapters.sql.tables import job, job_status
from fluxx.model.job import Status
from fluxx.ports.changes import Change

LINES: Final[Select[Any]] = select(
    job_status,
    job.c.FileId,
    job.c.ClientApplicationId,
    job.c.ClientApplicationExtractorID,
).join(job, job.c.JobID == job_status.c.JobID)  # PK_Job


class SqlChanges:
    """Keeps the promises of ``ports.changes.Changes``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def newest(self, *, limit: int) -> Sequence[Change]:
        """See ``Changes.newest``."""
        statement = LINES.order_by(job_status.c.JobStatusID.desc()).limit(limit)  # PK_JobStatus, backwards
        return (await self._read(statement))[::-1]

    async def after(self, change_id: int, *, missing: Sequence[int], limit: int) -> Sequence[Change]:
        """See ``Changes.after``."""
        beyond = job_status.c.JobStatusID > change_id
        wanted = or_(beyond, job_status.c.JobStatusID.in_(missing)) if missing else beyond
        return await self._read(LINES.where(wanted).order_by(job_status.c.JobStatusID).limit(limit))

    async def _read(self, statement: Select[Any]) -> Sequence[Change]:
        rows = await self._connections.read(lambda connection: connection.execute(statement).all())
        return [
            Change(
                change_id=row.JobStatusID,
                job_id=row.JobID,
                file_id=row.FileId,
                client_application_id=row.ClientApplicationId,
                client_application_extractor_id=row.ClientApplicationExtractorID,
                status=Status(row.Status),
                message=row.Message,
                attempt_number=row.AttemptNumber,
                timestamp=row.Timestamp,
            )
            for row in rows
        ]
