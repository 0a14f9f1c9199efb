"""The runner: in order, once, whole or not at all, and safe to run twice, at once or after a kill."""

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, inspect, select

from fluxx.adapters.sql.engine import dialect_of, make_engine, reading
from fluxx.adapters.sql.migrations import check, info, migrate, pending
from fluxx.adapters.sql.tables import job_status
from fluxx.errors import Misconfigured, Unavailable
from support.migrating import VERSIONS, folder_of, shipped, up_to
from support.rows import place
from support.schema import shape

# Each keeps its database busy until the client is gone or the server is stopped.
ENDLESS = {
    "sqlite": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n;",
    "postgresql": "SELECT pg_sleep(3600);",
    "sqlserver": "DECLARE @i BIGINT = 0; WHILE @i >= 0 SET @i += 1;",
}
MIGRATING = """
import pathlib, sys
from fluxx.adapters.sql.engine import make_engine
from fluxx.adapters.sql.migrations import migrate
migrate(make_engine(sys.argv[1]), folder=pathlib.Path(sys.argv[2]))
"""
BOUND = 60.0


def test_a_fresh_database_gets_everything_in_order(engine: Engine) -> None:
    assert [one.version for one in pending(engine)] == VERSIONS
    assert [one.version for one in migrate(engine)] == VERSIONS
    assert {one.state for one in info(engine)} == {"applied"}
    ages = [datetime.now(UTC) - one.installed_on for one in info(engine) if one.installed_on]
    assert len(ages) == len(VERSIONS)
    assert all(timedelta(minutes=-5) < age < timedelta(minutes=5) for age in ages)
    check(engine)


def test_a_second_run_changes_nothing(engine: Engine) -> None:
    migrate(engine)
    place(engine)
    before = shape(engine)
    assert migrate(engine) == []
    assert shape(engine) == before
    with reading(engine).connect() as connection:
        assert connection.scalar(select(func.count()).select_from(job_status)) == 1


def test_a_database_that_is_behind_is_refused_with_what_to_run(engine: Engine, tmp_path: Path) -> None:
    migrate(engine, folder=up_to(VERSIONS[-3], engine, tmp_path))
    with pytest.raises(Misconfigured, match=rf"behind \(V{VERSIONS[-2]}, V{VERSIONS[-1]} missing\).*fluxx db migrate"):
        check(engine)


def test_an_older_release_works_on_a_newer_database(engine: Engine, tmp_path: Path) -> None:
    migrate(engine)
    older = up_to(VERSIONS[-2], engine, tmp_path)
    assert migrate(engine, folder=older) == []
    check(engine, folder=older)
    assert info(engine, folder=older)[-1].state == "unknown"


def test_migrators_at_once_apply_each_script_once(engine: Engine, empty_database_url: str) -> None:
    together = threading.Barrier(4)

    def run(_number: int) -> list[int]:
        mine = make_engine(empty_database_url)
        together.wait()
        done = [one.version for one in migrate(mine)]
        mine.dispose()
        return done

    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(run, range(4)))
    assert sorted(version for one in done for version in one) == VERSIONS
    check(engine)


def test_a_script_that_fails_leaves_nothing(engine: Engine, tmp_path: Path) -> None:
    failing = folder_of({1: "CREATE TABLE a (x INTEGER);", 2: "CREATE TABLE b (x INTEGER);\nCREATE TABEL c;"}, tmp_path)
    with pytest.raises(Misconfigured, match=r"V2__made_up.sql failed; nothing of it was applied: [^\n]+$"):
        migrate(engine, folder=failing)
    assert [one.state for one in info(engine, folder=failing)] == ["applied", "pending"]
    assert not inspect(reading(engine)).has_table("b")


def test_the_error_of_a_later_statement_of_a_batch_counts(engine: Engine, tmp_path: Path) -> None:
    twice = folder_of(
        {1: "CREATE TABLE a (x INTEGER);\nINSERT INTO a VALUES (1);\nCREATE TABLE a (x INTEGER);"}, tmp_path
    )
    with pytest.raises(Misconfigured, match="V1__made_up"):
        migrate(engine, folder=twice)


def test_a_script_changed_after_it_was_applied_is_refused(engine: Engine, tmp_path: Path) -> None:
    folder = folder_of({1: "CREATE TABLE a (x INTEGER);"}, tmp_path)
    migrate(engine, folder=folder)
    folder_of({1: "CREATE TABLE a (x INTEGER, y INTEGER);"}, folder)
    for doing in (migrate, info):
        with pytest.raises(Misconfigured, match=r"V1__made_up\.sql was changed"):
            doing(engine, folder=folder)


def test_a_script_that_comes_late_is_refused(engine: Engine, tmp_path: Path) -> None:
    migrate(engine, folder=folder_of({1: "CREATE TABLE a (x INTEGER);", 3: "CREATE TABLE c (x INTEGER);"}, tmp_path))
    with pytest.raises(Misconfigured, match=r"V2__made_up\.sql wasn't applied, though V3 was"):
        migrate(engine, folder=folder_of({2: "CREATE TABLE b (x INTEGER);"}, tmp_path))


def test_a_migrator_killed_in_the_middle_leaves_nothing_and_holds_nobody_up(
    engine: Engine, empty_database_url: str, tmp_path: Path
) -> None:
    folder = folder_of(
        {1: "CREATE TABLE a (x INTEGER);", 2: f"CREATE TABLE b (x INTEGER);\n{ENDLESS[dialect_of(engine)]}"}, tmp_path
    )
    killed = subprocess.Popen([sys.executable, "-c", MIGRATING, empty_database_url, str(folder)])
    try:
        _wait_until_first_is_applied(engine, folder)
    finally:
        killed.kill()
        killed.wait()
    folder_of({2: "CREATE TABLE b (x INTEGER);"}, folder)
    started = time.monotonic()
    assert [one.version for one in migrate(engine, folder=folder)] == [2]
    assert time.monotonic() - started < 10


def _wait_until_first_is_applied(engine: Engine, folder: Path) -> None:
    deadline = time.monotonic() + BOUND
    while [one.state for one in info(engine, folder=folder)] != ["applied", "pending"]:
        assert time.monotonic() < deadline, "the first script was never applied"


def test_a_database_that_is_away_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        migrate(make_engine(f"postgresql://nobody@/nothing?host={tmp_path}"))


def test_shipped_scripts_have_the_same_names_on_every_dialect(engine: Engine) -> None:
    migrate(engine)
    assert [one.script for one in info(engine)] == [
        f"V{one.version}__{one.description.replace(' ', '_')}.sql" for one in info(engine)
    ]
    assert [shipped(engine, version).version for version in VERSIONS] == VERSIONS
