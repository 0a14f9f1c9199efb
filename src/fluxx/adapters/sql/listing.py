"""The statement of a listing of jobs, newest first, and the index that it walks along.

    any                                       IX_Job_CreatedAt
    of a client application, or an extractor  IX_Job_ClientApplicationId_…, IX_Job_ClientApplicationExtractorID_…
    failed                                    IX_Job_Failed, IX_Job_Failed_ClientApplicationId, …ExtractorID
    queued, or started                        IX_Job_DueAt: live jobs are few, and sorted
    of a file                                 UQ_Job_FileId_…: a file has few jobs

Used by ``reading``. A page costs the same however long the history is; nothing is counted.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from sqlalchemy import ColumnElement, Select, and_, func, or_, select

from fluxx.adapters.sql.tables import LIVE, job
from fluxx.ports.jobs import JobFilter, Position

BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""Before anything was due."""

OWNERS: Final = {
    "client_application_id": job.c.ClientApplicationId,
    "client_application_extractor_id": job.c.ClientApplicationExtractorID,
}

Seen: TypeAlias = Callable[[ColumnElement[Any]], ColumnElement[Any]]


def listing(wanted: JobFilter, *, limit: int, after: Position | None = None) -> Select[Any]:
    """Return the statement for up to ``limit`` jobs older than ``after``."""
    seen = _hidden if wanted.status in LIVE else _plain
    created = seen(job.c.CreatedAt)
    return (
        select(job)
        .where(*_conditions(wanted, seen), *_older(created, after))
        .order_by(created.desc(), job.c.JobID.desc())
        .limit(limit)
    )


def _plain(column: ColumnElement[Any]) -> ColumnElement[Any]:
    return column


def _hidden(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the column's value, but nothing that an index is on.

    Among the live jobs no other index may be chosen than theirs: looking for a few live ones along
    an order of all jobs means reading the whole history.
    """
    return func.coalesce(column, column)


def _conditions(wanted: JobFilter, seen: Seen) -> list[ColumnElement[bool]]:
    created = seen(job.c.CreatedAt)
    conditions: list[ColumnElement[bool]] = [
        seen(column) == value for field, column in OWNERS.items() if (value := getattr(wanted, field)) is not None
    ]
    if wanted.file_id is not None:
        conditions.append(job.c.FileId == wanted.file_id)
    if wanted.file_ids is not None:
        conditions.append(job.c.FileId.in_(wanted.file_ids))
    if wanted.created_from is not None:
        conditions.append(created >= wanted.created_from)
    if wanted.created_before is not None:
        conditions.append(created < wanted.created_before)
    if wanted.status is not None:
        conditions.append(job.c.Status == wanted.status)
    if wanted.status in LIVE:
        conditions.append(job.c.DueAt > BEGINNING)  # says more than "is not null" to SQLite, which then uses the index
    return conditions


def _older(created: ColumnElement[Any], after: Position | None) -> list[ColumnElement[bool]]:
    if after is None:
        return []
    same_time = and_(created == after.created_at, job.c.JobID < after.job_id)
    return [created <= after.created_at, or_(created < after.created_at, same_time)]
