"""What the migrations make is what the code declares, and the database holds the table of states."""

from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import BLANK_SCHEMA, Engine, MetaData, create_engine, insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.schema import CreateSchema

from fluxx.adapters.sql.engine import dialect_of
from fluxx.adapters.sql.migrations import migrate
from fluxx.adapters.sql.tables import SCHEMAS, job, job_status, metadata
from fluxx.model.job import FINAL, Status
from fluxx.model.transitions import TABLE
from support.databases import drop_tables
from support.rows import A_MOMENT, place, row_of
from support.schema import shape

LIVE = {"DueAt": A_MOMENT, "CompletedAt": None}
OVER = {"DueAt": None, "CompletedAt": A_MOMENT}


def test_fresh_to_latest_is_what_the_code_declares(engine: Engine, empty_database_url: str) -> None:
    migrate(engine)
    migrated = shape(engine)
    drop_tables(empty_database_url)
    _create_declared(engine)
    assert migrated == shape(engine)
    assert len(migrated) == len(metadata.tables)


def _create_declared(engine: Engine) -> None:
    # Names longer than PostgreSQL's 63 characters are cut by the server, as it does with those in the scripts.
    declaring = create_engine(engine.url, max_identifier_length=128)
    with declaring.begin() as connection:
        if dialect_of(engine) == "postgresql":
            for schema in SCHEMAS:
                connection.execute(CreateSchema(schema, if_not_exists=True))
        (_without_schemas() if dialect_of(engine) == "sqlite" else metadata).create_all(connection)
    declaring.dispose()


def _without_schemas() -> MetaData:
    """Return copies: SQLAlchemy leaves out foreign keys between schemas on SQLite."""
    copies = MetaData()
    for table in metadata.sorted_tables:
        table.to_metadata(copies, schema=None, referred_schema_fn=lambda *_: BLANK_SCHEMA)
    return copies


def test_a_job_is_due_while_it_lives_and_completed_when_it_is_final(engine: Engine) -> None:
    migrate(engine)
    place(engine)
    for status in Status:
        fitting, unfitting = (LIVE, OVER) if TABLE[status] else (OVER, LIVE)
        _insert(engine, Status=status, **fitting)
        for column in fitting:
            with pytest.raises(IntegrityError, match="CK_Job_"):
                _insert(engine, Status=status, **fitting | {column: unfitting[column]})


def test_no_state_exists_beyond_those_of_the_table(engine: Engine) -> None:
    migrate(engine)
    place(engine)
    assert set(Status) == set(TABLE)
    assert {status for status in TABLE if not TABLE[status]} == FINAL
    with pytest.raises(IntegrityError, match="CK_Job_"):
        _insert(engine, Status="Cancelled", **OVER)
    with pytest.raises(IntegrityError, match="CK_JobStatus_Status"), engine.begin() as connection:
        connection.execute(insert(job_status).values(row_of(job_status) | {"Status": "queued"}))


def _insert(engine: Engine, **changes: Any) -> None:
    unique = {"JobID": uuid4(), "IdempotencyKey": uuid4().hex}
    with engine.begin() as connection:
        connection.execute(insert(job).values(row_of(job) | unique | changes))
