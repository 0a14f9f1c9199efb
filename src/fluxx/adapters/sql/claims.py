"""The claim, per database: due jobs, longest due first, taken by pushing ``DueAt`` ahead.

All three walk ``IX_Job_DueAt``, which holds live jobs only. What differs is how two claimers are
kept apart: SQLite has one writer at a time, PostgreSQL skips locked rows, SQL Server reads past them
(and there the predicate must stand in the outer UPDATE too, or two workers can get the same row).
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final, cast
from uuid import UUID

import msgspec
from msgspec.structs import replace
from sqlalchemy import ColumnElement, Connection, and_, literal_column, select, update

from fluxx.adapters.sql.rows import JOB_COLUMNS, job_of, jobs_of
from fluxx.adapters.sql.tables import job
from fluxx.adapters.sql.types import moment_to_text
from fluxx.model.job import Job


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A claim to make: at most ``limit`` jobs that fall due by ``due_by``, held until ``until`` by ``token``."""

    due_by: datetime
    until: datetime
    token: UUID
    limit: int
    without: frozenset[UUID]


class Claimer(msgspec.Struct, frozen=True):
    """``take`` claims, on a thread that hardly needs Python's lock; ``read`` makes jobs of what it took, if any.

    They are as they fell due, under their new token; in any order.
    """

    take: Callable[[Connection, Wanted], Any]
    read: Callable[[Any], Sequence[Job]]


def _array(function: str, **instead: str) -> str:
    """Return the expression that makes a job, as ``jobs_of`` reads it, of a row; ``instead`` replaces columns."""
    values = (instead.get(column, f'"{column}"') for column in JOB_COLUMNS.values())
    return f"{function}({', '.join(values)})"


SQLITE_BOOLEAN: Final = """json(iif("IsActive", 'true', 'false'))"""

# The hottest statements of all: given to the drivers as they are, as those of ``bulk``. Their answer is one JSON text:
# a driver makes values of it one by one, and SQLite's gives up Python's lock at each row.
_SQLITE_JOB: Final = _array("json_array", ClaimToken=":token", IsActive=SQLITE_BOOLEAN)
SQLITE_DUE: Final = f"""\
SELECT nullif(json_group_array({_SQLITE_JOB}), '[]'), json_group_array("JobID") FROM (
    SELECT * FROM "Job"
    WHERE "DueAt" <= :due_by AND "ClientApplicationExtractorID" NOT IN (SELECT value FROM json_each(:without))
    ORDER BY "DueAt" LIMIT :limit
)"""  # noqa: S608 - our own columns' names
SQLITE_TAKE: Final = """\
UPDATE "Job" SET "DueAt" = :until, "ClaimToken" = :token WHERE "JobID" IN (SELECT value FROM json_each(:ids))"""
POSTGRESQL_TAKE: Final = f"""\
WITH due AS (
    SELECT "JobID" AS id, "DueAt" AS fell_due FROM extractor."Job"
    WHERE "DueAt" <= %(due_by)s AND "ClientApplicationExtractorID" <> ALL(%(without)s::uuid[])
    ORDER BY "DueAt" LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
), taken AS (
    UPDATE extractor."Job" SET "DueAt" = %(until)s, "ClaimToken" = %(token)s FROM due WHERE "JobID" = due.id
    RETURNING {_array("json_build_array", DueAt="due.fell_due")} AS job
)
SELECT json_agg(job)::text FROM taken"""  # noqa: S608 - as above


def take_sqlite(connection: Connection, wanted: Wanted) -> str | None:
    """Read, then push ahead: the write lock is held from the start, so nobody comes between."""
    values = {
        "due_by": moment_to_text(wanted.due_by),
        "without": msgspec.json.encode(wanted.without).decode(),
        "limit": wanted.limit,
        "token": str(wanted.token),
    }
    jobs, ids = connection.exec_driver_sql(SQLITE_DUE, values).one()
    if jobs:
        taking = {"until": moment_to_text(wanted.until), "token": values["token"], "ids": ids}
        connection.exec_driver_sql(SQLITE_TAKE, taking)
    return cast("str | None", jobs)


def take_postgresql(connection: Connection, wanted: Wanted) -> str | None:
    """One statement: rows that another claimer has locked are skipped."""
    values = {
        "due_by": wanted.due_by,
        "without": list(wanted.without),
        "limit": wanted.limit,
        "until": wanted.until,
        "token": wanted.token,
    }
    return cast("str | None", connection.exec_driver_sql(POSTGRESQL_TAKE, values).scalar_one())


def take_sqlserver(connection: Connection, wanted: Wanted) -> Sequence[Job]:
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
    rows = connection.execute(statement).all()
    return [replace(job_of(row), due_at=row.FellDueAt, claim_token=wanted.token) for row in rows]


def _is_due(wanted: Wanted) -> ColumnElement[bool]:
    due = job.c.DueAt <= wanted.due_by
    return and_(due, job.c.ClientApplicationExtractorID.not_in(wanted.without)) if wanted.without else due


CLAIMERS: Final[dict[str, Claimer]] = {
    "sqlite": Claimer(take_sqlite, jobs_of),
    "postgresql": Claimer(take_postgresql, jobs_of),
    "mssql": Claimer(take_sqlserver, list),
}
