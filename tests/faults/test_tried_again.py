"""What goes wrong in a database for a moment is tried again, a few times; a commit is never done twice."""

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import mssql_python
import psycopg
import pytest
from sqlalchemy import Connection, event, text, update
from sqlalchemy.exc import DBAPIError, IntegrityError

from fluxx.adapters.sql.connections import TRANSACTION_TRIES, Connections
from fluxx.adapters.sql.engine import make_engine
from fluxx.adapters.sql.tables import lease
from fluxx.adapters.sql.troubles import asks_for_another_try
from fluxx.errors import Unavailable
from support.databases import Databases
from support.facts import BOUND
from support.postgres import Postgres
from support.rows import row_of
from support.troubled import Counted, one, troubled


@pytest.fixture
def postgresql_url(databases: Databases) -> Iterator[str]:
    with databases.postgresql() as url:
        yield url


async def test_the_victim_of_a_deadlock_is_run_again(postgresql_url: str) -> None:
    meeting, tries = threading.Barrier(2), []

    def touch(connection: Connection, name: str) -> None:
        connection.execute(update(lease).where(lease.c.Name == name).values(Name=name))

    def work(connection: Connection, first: str, second: str) -> None:
        touch(connection, first)
        tries.append(first)
        if len(tries) <= 2:
            meeting.wait(BOUND)  # each holds one row now, and wants the other's
        touch(connection, second)

    both = Connections(make_engine(postgresql_url), threads=2)
    rows = [row_of(lease) | {"Name": name} for name in "ab"]
    await both.write(lambda connection: connection.execute(lease.insert(), rows))
    await asyncio.gather(both.write(lambda c: work(c, "a", "b")), both.write(lambda c: work(c, "b", "a")))
    assert len(tries) == 3
    await both.close()


@pytest.mark.parametrize(
    ("state", "tries"),
    [
        ("40001", TRANSACTION_TRIES),  # serialization failure
        ("40P01", TRANSACTION_TRIES),  # deadlock
        ("55P03", TRANSACTION_TRIES),  # lock not available
        ("53300", 1),  # too many connections
        ("53100", 1),  # disk full
        ("57014", 1),  # statement timeout
        ("25006", 1),  # read-only: no longer the primary
        ("XX000", 1),
    ],
)
async def test_only_what_may_succeed_at_once_is_tried_again(postgresql_url: str, state: str, tries: int) -> None:
    failing = Counted(lambda c: c.execute(text(f"DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END $$")))
    async with troubled(postgresql_url) as ours:
        with pytest.raises(Unavailable):
            await ours.write(failing)
    assert failing.times == tries


async def test_rows_that_can_not_be_are_no_trouble_of_the_database(database_url: str) -> None:
    row = row_of(lease)
    async with troubled(database_url) as ours:
        for rows, error in (([row, row], IntegrityError), ([row | {"Name": None}], IntegrityError)):
            adding = Counted(lambda connection, rows=rows: connection.execute(lease.insert(), rows))
            with pytest.raises(error):
                await ours.write(adding)
            assert adding.times == 1


def test_a_deadlock_on_sql_server_is_known_by_its_state() -> None:
    words = "[Microsoft][SQL Server]Transaction (Process ID 60) was deadlocked on lock resources (Error 1205)"
    victim = mssql_python.OperationalError("Serialization failure", words)
    assert asks_for_another_try(DBAPIError("", {}, victim))
    other = mssql_python.OperationalError("Timeout expired", "row 1205 took too long: deadlock? no")
    assert not asks_for_another_try(DBAPIError("", {}, other))


async def test_a_busy_file_is_waited_for_but_not_for_ever(databases: Databases, tmp_path: Path) -> None:
    with databases.sqlite(tmp_path) as url:
        holder = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        async with troubled(url) as ours:
            adding = Counted()
            with pytest.raises(Unavailable, match="locked"):
                await ours.write(adding)
            assert adding.times == 0
            assert await ours.read(one) == 1
            holder.execute("ROLLBACK")
            assert await ours.write(adding) == 1
        holder.close()


async def test_a_connection_lost_in_the_middle_is_replaced_and_the_work_done_again(postgresql_url: str) -> None:
    def losing(connection: Connection) -> object:
        if work.times == 1:
            connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
        return one(connection)

    work = Counted(losing)
    async with troubled(postgresql_url) as ours:
        assert await ours.write(work) == 1
    assert work.times == 2


async def test_idle_connections_that_were_cut_off_are_replaced_unnoticed(
    postgres: Postgres, postgresql_url: str
) -> None:
    async with troubled(postgresql_url, threads=4) as ours:
        await asyncio.gather(*(ours.read(lambda c: c.execute(text("SELECT pg_sleep(0.05)"))) for _ in range(4)))
        _end_sessions(postgres, postgresql_url)
        assert await asyncio.gather(*(ours.read(one) for _ in range(8))) == [1] * 8


def _end_sessions(postgres: Postgres, url: str) -> None:
    name = url.partition("@/")[2].partition("?")[0]
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        ended = connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = %s", [name]
        ).fetchall()
    assert len(ended) == 4


async def test_a_commit_whose_answer_is_lost_is_not_done_again(postgres: Postgres, postgresql_url: str) -> None:
    pids: list[int] = []

    def working(connection: Connection) -> None:
        pids.append(connection.execute(text("SELECT pg_backend_pid()")).scalar_one())

    def cut_off(_: Connection) -> None:
        with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
            connection.execute("SELECT pg_terminate_backend(%s, 10000)", [pids[-1]])

    engine, work = make_engine(postgresql_url), Counted(working)
    event.listen(engine, "commit", cut_off)
    ours = Connections(engine, threads=1)
    with pytest.raises(Unavailable, match="during a commit"):
        await ours.write(work)
    assert work.times == 1
    await ours.close()
