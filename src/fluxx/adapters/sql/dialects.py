"""What differs between the three databases when a connection is opened: its options, and its first words.

Used by ``engine.py`` only; what differs in claims is in ``claims.py``.
"""

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec
from sqlalchemy import URL, Connection, Dialect, Engine, event
from sqlalchemy.dialects.sqlite.base import SQLiteIdentifierPreparer

from fluxx.adapters.sql.troubles import is_busy
from fluxx.errors import Misconfigured

CHECKPOINTS: Final = "wal_autocheckpoint=4000"
"""Pages (16 MB) instead of 1,000: the jobs in flight change again and again, and each checkpoint writes all of them."""
LOG_PAUSE: Final = 0.01
"""Seconds between two attempts to give a new file its write-ahead log while another process does so, or writes."""
RANDOM_PAGE_COST: Final = 1.1
"""As on storage without moving heads. With the server's 4, a claim or a write of a hundred jobs out of ten thousand
reads all of them, and throws away all but the hundred.
"""
READING: Final = "fluxx_reading"
"""The execution option of transactions that only read."""


class Timeouts(msgspec.Struct, frozen=True, kw_only=True):
    """The longest waits, in seconds: to connect, for a pooled connection, a lock, an answer, and for us (``idle``)."""

    connect: float = 10.0
    pool: float = 10.0
    lock: float = 10.0
    statement: float = 30.0
    idle: float = 5.0


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """How one database is opened: SQLAlchemy's driver, options of ``create_engine``, listeners."""

    driver: str
    options: Callable[[URL, Timeouts, str], dict[str, Any]]
    listen: Callable[[Engine, Timeouts], None]


def _sqlite_options(url: URL, limits: Timeouts, _application_name: str) -> dict[str, Any]:
    options: dict[str, Any] = {
        "connect_args": {"check_same_thread": False, "timeout": limits.lock, "isolation_level": None}
    }
    if url.database in (None, "", ":memory:"):
        # A database in memory is its connection: there can only be one, and it must stay.
        return options | {"pool_size": 1, "pool_recycle": -1}
    if not (folder := Path(url.database or "").parent).is_dir():
        raise Misconfigured(f"DATABASE_URL: the folder {folder} doesn't exist")
    return options


class OneSchema(SQLiteIdentifierPreparer):
    """Names all tables as of SQLite's only schema. SQLAlchemy's translation of schemas costs at each call."""

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(dialect)
        self.schema_for_object = lambda _: "main"


def _write_ahead(connection: Any, patience: float) -> None:
    """Keep the file's changes in a write-ahead log, waiting for who writes: for this, SQLite's own timeout isn't."""
    until = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").close()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() >= until:
                raise
            time.sleep(LOG_PAUSE)
        else:
            return


def _listen_sqlite(engine: Engine, limits: Timeouts) -> None:
    engine.dialect.identifier_preparer = OneSchema(engine.dialect)

    def connected(connection: Any, _record: object) -> None:
        _write_ahead(connection, limits.lock)
        # Deleted messages may hold signed URLs: their pages are overwritten.
        for pragma in ("synchronous=FULL", "foreign_keys=ON", "secure_delete=ON", CHECKPOINTS):
            connection.execute(f"PRAGMA {pragma}").close()

    def begun(connection: Connection) -> None:
        # A transaction that reads first and writes later would fail at once where another one wrote between.
        only_reads = connection.get_execution_options().get(READING, False)
        connection.exec_driver_sql("BEGIN" if only_reads else "BEGIN IMMEDIATE")

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)


def _postgresql_options(url: URL, limits: Timeouts, application_name: str) -> dict[str, Any]:
    waits = {
        "statement_timeout": limits.statement,
        "lock_timeout": limits.lock,
        # A process that froze in a transaction loses its locks before those who wait for them give up.
        "idle_in_transaction_session_timeout": limits.idle,
    }
    settings = " ".join(f"-c {name}={round(1000 * seconds)}" for name, seconds in waits.items())
    settings += " -c timezone=UTC"  # in JSON, moments come as text
    settings += f" -c random_page_cost={RANDOM_PAGE_COST}"
    asked = url.query.get("options", "")
    return {
        "connect_args": {
            "connect_timeout": max(1, round(limits.connect)),
            "application_name": url.query.get("application_name", application_name),
            "options": f"{settings} {asked if isinstance(asked, str) else ' '.join(asked)}".strip(),
            # The server's timeouts are worth nothing when its machine is gone: notice within half a minute.
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 4,
            "tcp_user_timeout": round(1000 * limits.statement),
        }
    }


def _listen_postgresql(_engine: Engine, _limits: Timeouts) -> None:
    """Everything is said in the connection string."""


def _sqlserver_options(_url: URL, limits: Timeouts, _application_name: str) -> dict[str, Any]:
    # The driver keeps the application's name to itself; its timeout here is the one for connecting.
    return {"connect_args": {"timeout": max(1, round(limits.connect))}}


def _listen_sqlserver(engine: Engine, limits: Timeouts) -> None:
    def connected(connection: Any, _record: object) -> None:
        connection.timeout = max(1, round(limits.statement))
        cursor = connection.cursor()
        cursor.execute(f"SET LOCK_TIMEOUT {round(1000 * limits.lock)}")
        cursor.close()
        connection.commit()

    event.listen(engine, "connect", connected)


OPENINGS: Final = {
    "sqlite": Opening(driver="pysqlite", options=_sqlite_options, listen=_listen_sqlite),
    "postgresql": Opening(driver="psycopg", options=_postgresql_options, listen=_listen_postgresql),
    "mssql": Opening(driver="mssqlpython", options=_sqlserver_options, listen=_listen_sqlserver),
}
"""By SQLAlchemy's name of the dialect."""
