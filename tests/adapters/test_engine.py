"""What ``make_engine`` promises: three dialects, bounded waits, one-line refusals without passwords."""

import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, insert, select, text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from fluxx.adapters.sql.engine import Timeouts, dialect_of, make_engine, reading
from fluxx.adapters.sql.tables import client_application
from fluxx.errors import Misconfigured
from support.postgres import Postgres
from support.rows import row_of

QUICK = Timeouts(connect=1.0, pool=0.05, lock=0.2, statement=1.0)
SECRET = "s3cret-pass"


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = make_engine(database_url, timeouts=QUICK)
    yield engine
    engine.dispose()


def test_what_is_written_is_read(engine: Engine) -> None:
    row = row_of(client_application)
    with engine.begin() as connection:
        connection.execute(insert(client_application).values(row))
    with reading(engine).connect() as connection:
        assert dict(connection.execute(select(client_application)).one()._mapping) == row
    assert dialect_of(engine) == dialect_of(reading(engine))


def test_a_pooled_connection_is_waited_for_no_longer_than_asked(database_url: str) -> None:
    engine = make_engine(database_url, pool_size=1, timeouts=QUICK)
    with engine.connect(), pytest.raises(PoolTimeout):
        engine.connect()
    engine.dispose()


def test_a_lock_is_waited_for_no_longer_than_asked(engine: Engine) -> None:
    with engine.begin() as first, engine.connect() as second:
        first.execute(insert(client_application).values(row_of(client_application)))
        started = time.monotonic()
        with pytest.raises(DBAPIError):
            second.execute(insert(client_application).values(row_of(client_application)))
        assert time.monotonic() - started < 5


def test_an_answer_is_waited_for_no_longer_than_asked(postgres: Postgres) -> None:
    engine = make_engine(postgres.url("postgres"), timeouts=QUICK)
    with engine.connect() as connection, pytest.raises(OperationalError, match="statement timeout"):
        connection.execute(text("SELECT pg_sleep(60)"))
    engine.dispose()


def test_a_reader_waits_for_no_writer(engine: Engine) -> None:
    if dialect_of(engine) == "sqlserver":
        pytest.skip("the database's READ_COMMITTED_SNAPSHOT decides it, see docs/operations.md")
    with engine.begin() as writer, reading(engine).connect() as reader:
        writer.execute(insert(client_application).values(row_of(client_application)))
        assert reader.execute(select(client_application.c.Name)).all() == []


def test_sqlite_writers_queue_and_none_fails_half_way(tmp_path: Path) -> None:
    """A transaction that read and then wants to write would meet SQLITE_BUSY at once, whatever its timeout."""
    engine = make_engine(f"sqlite:///{tmp_path}/a.db")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE counter (n INTEGER)"))
        connection.execute(text("INSERT INTO counter VALUES (0)"))

    def count() -> None:
        for _ in range(20):
            with engine.begin() as connection:
                number = connection.execute(text("SELECT n FROM counter")).scalar_one()
                connection.execute(text("UPDATE counter SET n = :n"), {"n": number + 1})

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with reading(engine).connect() as connection:
        assert connection.execute(text("SELECT n FROM counter")).scalar_one() == 80
    engine.dispose()


def test_a_new_sqlite_file_that_another_process_writes_is_waited_for(tmp_path: Path) -> None:
    """As where two processes start on an empty folder: SQLite itself fails at once when it is to begin its log."""
    other = sqlite3.connect(tmp_path / "x.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    hasty, patient = (make_engine(f"sqlite:///{tmp_path / 'x.db'}", timeouts=limits) for limits in (QUICK, None))
    with pytest.raises(OperationalError, match="locked"):
        hasty.connect()
    release = threading.Timer(0.1, other.execute, ["COMMIT"])
    release.start()
    with patient.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"
    release.join()
    patient.dispose()
    other.close()


def test_sqlite_is_durable_and_keeps_foreign_keys(tmp_path: Path) -> None:
    engine = make_engine(f"sqlite:///{tmp_path}/a.db", timeouts=Timeouts(lock=7.0))
    wanted = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 7000}
    with engine.connect() as connection:
        assert {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in wanted} == wanted
    engine.dispose()


def test_a_database_in_memory_is_one_for_all_threads() -> None:
    engine = make_engine("sqlite://")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE a (x INTEGER)"))
    thread = threading.Thread(target=lambda: engine.connect().execute(text("INSERT INTO a VALUES (1)")))
    thread.start()
    thread.join()
    engine.dispose()


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_the_usual_ways_to_write_a_postgresql_url_work(postgres: Postgres, scheme: str) -> None:
    url = (
        postgres.url("postgres").replace("postgresql", scheme)
        + "&options=-c%20search_path%3Dmine%20-c%20random_page_cost%3D2"
    )
    engine = make_engine(url, application_name="fluxx-tests")
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SHOW application_name").scalar() == "fluxx-tests"
        assert connection.exec_driver_sql("SHOW search_path").scalar() == "mine"
        assert connection.exec_driver_sql("SHOW statement_timeout").scalar() == "30s"
        assert connection.exec_driver_sql("SHOW random_page_cost").scalar() == "2"
    engine.dispose()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("nonsense", "not a database URL"),
        (f"postgresql://a:{SECRET}@host:port/x", "not a database URL"),
        (f"mysql://a:{SECRET}@host/x", "no such kind of database: mysql"),
        (f"postgresql+asyncpg://a:{SECRET}@host/x", "asyncpg isn't supported; write postgresql://"),
        (f"mssql+pymssql://a:{SECRET}@host/x", "pymssql isn't supported; write mssql://"),
        ("sqlite:////no/such/folder/x.db", "the folder /no/such/folder doesn't exist"),
        (f"postgresql://a:{SECRET}@127.0.0.1:1/x?colour=blue", "colour"),
        (f"mssql://a:{SECRET}@host/x?colour=blue", "colour"),
    ],
)
def test_a_url_that_makes_no_sense_is_refused_in_one_line_without_the_password(url: str, words: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        make_engine(url).connect()
    assert words in str(refused.value)
    assert SECRET not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_driver_is_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(Misconfigured, match=r"pip install 'fluxx\[postgresql\]'"):
        make_engine("postgresql://host/x")


def test_errors_show_no_parameters(engine: Engine) -> None:
    nameless = row_of(client_application) | {"Name": None}
    with pytest.raises(DBAPIError) as failed, engine.begin() as connection:
        connection.execute(insert(client_application).values(nameless))
    assert "hidden" in str(failed.value)
