"""Accepting: files and new jobs in, once, however often the message comes."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias
from uuid import UUID

from sqlalchemy import Connection, delete, insert, select

from fluxx.adapters.sql.rows import file_row, job_of
from fluxx.adapters.sql.tables import file, job, waiting_file
from fluxx.adapters.sql.writing import Writing
from fluxx.errors import NotFound
from fluxx.model.job import File, Job
from fluxx.model.transitions import Transition
from fluxx.ports.jobs import Acceptance, Accepted

Key: TypeAlias = tuple[UUID, UUID, str]


def accept_group(
    connection: Connection, group: Sequence[Acceptance], writing: Writing
) -> Sequence[Accepted | NotFound]:
    """Insert what is new of the acceptances, in order; say for each what was new and what was known.

    A file that doesn't exist, or belongs to another client application, is the answer ``NotFound``.
    A race with another worker for the same key ends in a unique violation (an ``IntegrityError``):
    the caller runs the transaction again and finds the jobs known.
    """
    _add_files(connection, (one.file for one in group if one.file is not None))
    file_ids = {wanted.job.file_id for one in group for wanted in one.transitions}
    owners, known = _owners(connection, file_ids), _known(connection, file_ids)
    answers: list[Accepted | NotFound] = []
    adding: list[Transition] = []
    accepted: set[UUID] = set()
    for one in group:
        if strange := [wanted.job for wanted in one.transitions if _owner(wanted.job) not in owners]:
            answers.append(NotFound(f"Client application {_owner(strange[0])[1]} has no file {strange[0].file_id}."))
            continue
        new = [wanted for wanted in one.transitions if _key(wanted.job) not in known]
        old = [known[_key(wanted.job)] for wanted in one.transitions if _key(wanted.job) in known]
        known.update((_key(wanted.job), wanted.job) for wanted in new)
        adding.extend(new)
        answers.append(Accepted([wanted.job for wanted in new], old))
        accepted.add(one.file_id)
    if adding:
        # In the order of their keys: two workers with the same files then wait for each other in one direction only.
        writing.adding(sorted(adding, key=lambda one: _key(one.job)))(connection)
    if accepted:
        connection.execute(delete(waiting_file).where(waiting_file.c.FileID.in_(sorted(accepted))))
    return answers


def _owner(one: Job) -> tuple[UUID, UUID]:
    return one.file_id, one.client_application_id


def _owners(connection: Connection, file_ids: set[UUID]) -> set[tuple[UUID, UUID]]:
    rows = connection.execute(select(file.c.FileID, file.c.ClientApplicationId).where(file.c.FileID.in_(file_ids)))
    return {(row.FileID, row.ClientApplicationId) for row in rows}


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
