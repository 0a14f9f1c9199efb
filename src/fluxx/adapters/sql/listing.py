"""The statement of a listing of jobs, newest first, and the index that it walks along.

    any                                       IX_Job_CreatedAt
    of a client application, or an extractor  IX_Job_ClientApplicationId_…, IX_Job_ClientApplicationExtractorID_…
    failed                                    IX_Job_Failed, IX_Job_Failed_ClientApplicationId, …ExtractorID
    queued, or started                        IX_Job_DueAt: live jobs are few, and sorted
    of a file                                 UQ_Job_FileId_…: a file has few jobs

Used by ``reading``. A page costs the same however long the history is; nothing is counted. A statement is built
once for each shape of question: building one costs more than running it.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final, TypeAlias

import msgspec
from sqlalchemy import ColumnElement, Integer, Select, and_, bindparam, func, or_, select

from fluxx.adapters.sql.tables import LIVE, job
from fluxx.ports.jobs import JobFilter, Position

BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""Before anything was due."""

Seen: TypeAlias = Callable[[ColumnElement[Any]], ColumnElement[Any]]

CONDITIONS: Final[dict[str, Callable[[Seen, Any], ColumnElement[bool]]]] = {
    "client_application_id": lambda seen, value: seen(job.c.ClientApplicationId) == value,
    "client_application_extractor_id": lambda seen, value: seen(job.c.ClientApplicationExtractorID) == value,
    "file_id": lambda _, value: job.c.FileId == value,
    "created_from": lambda seen, value: seen(job.c.CreatedAt) >= value,
    "created_before": lambda seen, value: seen(job.c.CreatedAt) < value,
    "status": lambda _, value: job.c.Status == value,
}
"""By the fields of ``JobFilter``."""


def listing(wanted: JobFilter, *, limit: int, after: Position | None = None) -> tuple[Select[Any], dict[str, Any]]:
    """Return the statement for up to ``limit`` jobs older than ``after``, and its parameters."""
    values = {field: value for field, value in msgspec.structs.asdict(wanted).items() if value is not None}
    statement = _statement(frozenset(values), alive=wanted.status in LIVE, further=after is not None)
    values["limit"] = limit
    if after is not None:
        values |= {"after_created_at": after.created_at, "after_job_id": after.job_id}
    return statement, values


@cache
def _statement(fields: frozenset[str], *, alive: bool, further: bool) -> Select[Any]:
    seen = _hidden if alive else _plain
    created = seen(job.c.CreatedAt)
    conditions = [condition(seen, bindparam(field)) for field, condition in CONDITIONS.items() if field in fields]
    if "file_ids" in fields:
        conditions.append(job.c.FileId.in_(bindparam("file_ids", expanding=True)))
    if alive:
        conditions.append(job.c.DueAt > BEGINNING)  # says more than "is not null" to SQLite, which then uses the index
    return (
        select(job)
        .where(*conditions, *(_older(created) if further else ()))
        .order_by(created.desc(), job.c.JobID.desc())
        .limit(bindparam("limit", type_=Integer))
    )


def _plain(column: ColumnElement[Any]) -> ColumnElement[Any]:
    return column


def _hidden(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the column's value, but nothing that an index is on.

    Among the live jobs no other index may be chosen than theirs: looking for a few live ones along
    an order of all jobs means reading the whole history.
    """
    return func.coalesce(column, column)


def _older(created: ColumnElement[Any]) -> list[ColumnElement[bool]]:
    moment = bindparam("after_created_at", type_=job.c.CreatedAt.type)
    same_time = and_(created == moment, job.c.JobID < bindparam("after_job_id"))
    return [created <= moment, or_(created < moment, same_time)]
