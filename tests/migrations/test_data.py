"""Data survives every migration after story 1's, and scripts can be run again by hand."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, delete, insert, select

from fluxx.adapters.sql.engine import dialect_of, reading
from fluxx.adapters.sql.migrations import check, migrate
from fluxx.adapters.sql.tables import file, job, job_status, metadata, rollup
from fluxx.model.job import FINAL, Status
from support.migrating import VERSIONS, run_by_hand, shipped, up_to
from support.rows import A_MOMENT, an_id, place, row_of
from support.schema import existing_columns, shape

STORY_1 = 3
ROLLUPS = 10


def _content(engine: Engine, columns: dict[str, list[str]]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of every table, with the given columns of each."""
    with reading(engine).connect() as connection:
        return {
            name: [
                dict(row._mapping)
                for row in connection.execute(
                    select(*(metadata.tables[name].c[column] for column in columns[name])).order_by(
                        *metadata.tables[name].primary_key
                    )
                )
            ]
            for name in columns
        }


@pytest.mark.parametrize("version", [version for version in VERSIONS[:-1] if version >= STORY_1])
def test_data_of_a_version_survives_the_next(engine: Engine, tmp_path: Path, version: int) -> None:
    migrate(engine, folder=up_to(version, engine, tmp_path))
    place(engine)
    columns = existing_columns(engine)
    before = _content(engine, columns)
    assert all(before.values())
    migrate(engine, folder=up_to(version + 1, engine, tmp_path))
    assert _content(engine, columns) == before


def test_jobs_of_story_1_get_what_they_need_to_go_on(engine: Engine, tmp_path: Path) -> None:
    migrate(engine, folder=up_to(STORY_1 + 1, engine, tmp_path))
    place(engine)
    there = existing_columns(engine)[job.key]
    row = {name: value for name, value in row_of(job).items() if name in there}
    with engine.begin() as connection:
        for number, status in enumerate(Status, start=100):
            connection.execute(insert(job).values(row | {"JobID": an_id(number), "Status": status}))
    migrate(engine)
    with reading(engine).connect() as connection:
        rows = connection.execute(select(job)).all()
    assert len(rows) == 1 + len(Status)
    for row in rows:
        assert row.ClientApplicationId == an_id(1)
        assert row.IdempotencyKey == f"job:{row.JobID}"
        assert row.DeadlineAt > A_MOMENT
        assert row.CompletedAt == (A_MOMENT if row.Status in FINAL else None)
        assert (row.DueAt is None) == (row.Status in FINAL)


def test_jobs_that_were_there_before_the_rollups_are_counted_once(engine: Engine, tmp_path: Path) -> None:
    migrate(engine, folder=up_to(ROLLUPS - 1, engine, tmp_path))
    place(engine)
    over = {"DueAt": None, "CompletedAt": A_MOMENT}
    with engine.begin() as connection:
        for number, status in enumerate((Status.QUEUED, Status.SUCCEEDED, Status.FAILED, Status.FAILED), start=100):
            changes = {"JobID": an_id(number), "IdempotencyKey": str(number), "Status": status}
            connection.execute(insert(job).values(row_of(job) | changes | (over if status in FINAL else {})))
        line = row_of(job_status) | {"JobID": an_id(103), "Status": "Started"}
        connection.execute(insert(job_status).values(line))
    migrate(engine)
    run_by_hand(engine, shipped(engine, ROLLUPS))
    with reading(engine).connect() as connection:
        [row] = connection.execute(select(rollup)).all()
    assert row.ClientApplicationExtractorID == an_id(2)
    assert (row.Queued, row.Started, row.Succeeded, row.Failed, row.Unstarted, row.Polls) == (5, 3, 1, 2, 1, 35)


def test_story_1_can_be_run_again_by_hand(engine: Engine, tmp_path: Path) -> None:
    folder = up_to(STORY_1, engine, tmp_path)
    migrate(engine, folder=folder)
    before = shape(engine)
    place(engine)
    for _ in range(2):
        run_by_hand(engine, shipped(engine, STORY_1))
    assert shape(engine) == before
    with reading(engine).connect() as connection:
        assert connection.execute(select(job_status.c.JobID)).all() == []
        assert len(connection.execute(select(file.c.FileID)).all()) == 1


def test_no_other_script_run_again_by_hand_changes_anything(engine: Engine) -> None:
    migrate(engine)
    place(engine)
    columns = existing_columns(engine)
    before, content = shape(engine), _content(engine, columns)
    for version in VERSIONS:
        if version == STORY_1:
            continue
        if dialect_of(engine) == "sqlite" and "ADD COLUMN" in shipped(engine, version).text:
            # SQLite can't ask whether a column is there: it refuses the second one, and nothing happens.
            with pytest.raises(sqlite3.OperationalError, match="duplicate column name"):
                run_by_hand(engine, shipped(engine, version))
        else:
            run_by_hand(engine, shipped(engine, version))
    assert shape(engine) == before
    assert _content(engine, columns) == content
    check(engine)


def test_a_row_gets_its_times_and_counts_by_default(engine: Engine) -> None:
    """Story 1: SYSDATETIMEOFFSET() for all datetime values, and what has not happened yet stays empty."""
    migrate(engine)
    place(engine)
    given = ("JobID", "FileId", "ClientApplicationExtractorID", "ClientApplicationId", "DeadlineAt", "DueAt")
    row = {name: row_of(job)[name] for name in given}
    with engine.begin() as connection:
        connection.execute(delete(job_status))
        connection.execute(delete(job))
        connection.execute(insert(job).values(row | {"IdempotencyKey": "by hand"}))
        connection.execute(insert(job_status).values(JobID=row["JobID"], Status="Queued"))
        made, line = connection.execute(select(job)).one(), connection.execute(select(job_status)).one()
    assert (made.Status, made.PollAttemptCount, made.ErrorCount, made.IsActive) == ("Queued", 0, 0, True)
    assert made.CreatedAt > A_MOMENT
    assert made.UpdatedAt > A_MOMENT
    assert line.Timestamp > A_MOMENT
    assert (made.LastPollAttemptAt, made.CompletedAt) == (None, None)
