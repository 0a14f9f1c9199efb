"""Accepting: files and new jobs in, once, however often the message comes."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias
from uuid import UUID

from sqlalchemy import Connection, insert, select

from fluxx.adapters.sql.rows import event_row, file_row, job_of, job_row, status_row
from fluxx.adapters.sql.tables import file, job, job_status, outbox
from fluxx.model.job import File, Job
from fluxx.model.transitions import Transition
from fluxx.ports.jobs import Acceptance, Accepted

Key: TypeAlias = tuple[UUID, UUID, str]


def accept_group(connection: Connection, group: Sequence[Acceptance]) -> Sequence[Accepted]:
    """Insert what is new of the acceptances, in order; say for each what was new and what was known.

    A race with another worker for the same key ends in a unique violation (an ``IntegrityError``):
    the caller runs the transaction again and finds the jobs known.
    """
    _add_files(connection, (one.file for one in group if one.file is not None))
    known = _known(connection, {wanted.job.file_id for one in group for wanted in one.transitions})
    accepted, adding = [], []
    for one in group:
        new = [wanted for wanted in one.transitions if _key(wanted.job) not in known]
        old = [known[_key(wanted.job)] for wanted in one.transitions if _key(wanted.job) in known]
        known.update((_key(wanted.job), wanted.job) for wanted in new)
        adding.extend(new)
        accepted.append(Accepted([wanted.job for wanted in new], old))
    if adding:
        _add_jobs(connection, adding)
    return accepted


def _key(one: Job) -> Key:
    return one.file_id, one.client_application_extractor_id, one.idempotency_key


def _known(connection: Connection, file_ids: set[UUID]) -> dict[Key, Job]:
    # UQ_Job_FileId_ClientApplicationExtractorID_IdempotencyKey: its first column.
    rows = connection.execute(select(job).where(job.c.FileId.in_(file_ids)))
    return {_key(one): one for one in map(job_of, rows)}


def _add_files(connection: Connection, files: Iterable[File]) -> None:
    wanted = {one.file_id: one for one in files}
    if not wanted:
        return
    there = set(connection.scalars(select(file.c.FileID).where(file.c.FileID.in_(wanted))))
    new = [file_row(one) for file_id, one in sorted(wanted.items()) if file_id not in there]
    if new:
        connection.execute(insert(file), new)


def _add_jobs(connection: Connection, transitions: Sequence[Transition]) -> None:
    connection.execute(insert(job), [job_row(one.job) for one in transitions])
    connection.execute(insert(job_status), [status_row(line) for one in transitions for line in one.history])
    connection.execute(insert(outbox), [event_row(event) for one in transitions for event in one.events])
