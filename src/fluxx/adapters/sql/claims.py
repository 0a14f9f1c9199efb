"""The claim, per database: due jobs, longest due first, taken by pushing ``DueAt`` ahead.

All three walk ``IX_Job_DueAt``, which holds live jobs only. What differs is how two claimers are
kept apart: SQLite has one writer at a time, PostgreSQL skips locked rows, SQL Server reads past them
(and there the predicate must stand in the outer UPDATE too, or two workers can get the same row).
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias
from uuid import UUID

import msgspec
from msgspec.structs import replace
from sqlalchemy import ColumnElement, Connection, Row, and_, bindparam, literal_column, select, update

from fluxx.adapters.sql.rows import job_of
from fluxx.adapters.sql.tables import job
from fluxx.model.job import Job


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A claim to make: at most ``limit`` jobs due at ``now``, held until ``until`` by ``token``."""

    now: datetime
    until: datetime
    token: UUID
    limit: int
    without: frozenset[UUID]


PUSH_AHEAD: Final = (
    update(job).where(job.c.JobID == bindparam("id")).values(DueAt=bindparam("until"), ClaimToken=bindparam("token"))
)

Claimer: TypeAlias = Callable[[Connection, Wanted], Sequence[Job]]


def _is_due(wanted: Wanted) -> ColumnElement[bool]:
    due = job.c.DueAt <= wanted.now
    return and_(due, job.c.ClientApplicationExtractorID.not_in(wanted.without)) if wanted.without else due


def _claimed(rows: Sequence[Row[Any]], token: UUID) -> Sequence[Job]:
    """Return the jobs as they fell due, under their new token, longest due first."""
    jobs = [replace(job_of(row), due_at=row.FellDueAt, claim_token=token) for row in rows]
    return sorted(jobs, key=lambda one: (one.due_at, one.job_id))


def claim_sqlite(connection: Connection, wanted: Wanted) -> Sequence[Job]:
    """Read, then push ahead: the write lock is held from the start, so nobody comes between."""
    due = select(job, job.c.DueAt.label("FellDueAt")).where(_is_due(wanted)).order_by(job.c.DueAt).limit(wanted.limit)
    rows = connection.execute(due).all()
    if rows:
        taken = [{"id": row.JobID, "until": wanted.until, "token": wanted.token} for row in rows]
        connection.execute(PUSH_AHEAD, taken)
    return _claimed(rows, wanted.token)


def claim_postgresql(connection: Connection, wanted: Wanted) -> Sequence[Job]:
    """One statement: rows that another claimer has locked are skipped."""
    due = (
        select(job.c.JobID, job.c.DueAt.label("FellDueAt"))
        .where(_is_due(wanted))
        .order_by(job.c.DueAt)
        .limit(wanted.limit)
        .with_for_update(skip_locked=True)
        .cte("due")
    )
    statement = (
        update(job)
        .where(job.c.JobID == due.c.JobID)
        .values(DueAt=wanted.until, ClaimToken=wanted.token)
        .returning(job, due.c.FellDueAt)
    )
    return _claimed(connection.execute(statement).all(), wanted.token)


def claim_sqlserver(connection: Connection, wanted: Wanted) -> Sequence[Job]:
    """One statement: locked rows are read past, and the predicate is repeated outside."""
    due = (
        select(job.c.JobID)
        .with_hint(job, "WITH (UPDLOCK, READPAST, ROWLOCK)", "mssql")
        .where(_is_due(wanted))
        .order_by(job.c.DueAt)
        .limit(wanted.limit)
    )
    statement = (
        update(job)
        .where(_is_due(wanted), job.c.JobID.in_(due))
        .values(DueAt=wanted.until, ClaimToken=wanted.token)
        .returning(job, literal_column("deleted.[DueAt]", job.c.DueAt.type).label("FellDueAt"))
    )
    return _claimed(connection.execute(statement).all(), wanted.token)


CLAIMERS: Final[dict[str, Claimer]] = {
    "sqlite": claim_sqlite,
    "postgresql": claim_postgresql,
    "mssql": claim_sqlserver,
}
