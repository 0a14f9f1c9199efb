"""One migrator at a time: a connection of its own that holds the database's migration lock.

The lock belongs to the connection, so a killed migrator gives it up by dying. On SQLite there is
none: each script's transaction takes the write lock, and looks again at what is pending.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from fluxx.adapters.sql.engine import DialectName, dialect_of
from fluxx.adapters.sql.troubles import first_line
from fluxx.errors import Unavailable

LOCK_KEY: Final = int.from_bytes(b"fluxx_db")
PATIENCE_MS: Final = 600_000
"""How long another migrator is waited for."""
TABLE_PATIENCE_MS: Final = 30_000
"""How long a script waits for a table; everybody else's statements queue behind it meanwhile."""


@contextmanager
def locked(engine: Engine) -> Iterator[Connection]:
    """Give a connection that holds the migration lock and may take its time; closed afterwards.

    Raises ``Unavailable`` where the database can't be reached or the lock isn't free in time.
    """
    try:
        with engine.connect() as connection, _LOCKS[dialect_of(engine)](connection):
            yield connection
    except DBAPIError as error:
        raise Unavailable(f"The database can't be migrated now: {first_line(error)}") from error


@contextmanager
def _sqlite(connection: Connection) -> Iterator[None]:
    # A table that is made anew would lose the rows that point to it, were the keys enforced
    # meanwhile (sqlite.org/lang_altertable.html); they are checked before each commit instead.
    driver: Any = connection.connection.driver_connection
    driver.execute("PRAGMA foreign_keys=OFF")
    try:
        yield
    finally:
        driver.execute("PRAGMA foreign_keys=ON")


@contextmanager
def _postgresql(connection: Connection) -> Iterator[None]:
    # The server looks for us every second: a migrator killed in a long statement doesn't linger.
    for name, value in (
        ("statement_timeout", "0"),
        ("client_connection_check_interval", "1s"),
        ("lock_timeout", f"{PATIENCE_MS}ms"),
    ):
        connection.exec_driver_sql(f"SET {name} = '{value}'")
    connection.exec_driver_sql(f"SELECT pg_advisory_lock({LOCK_KEY})")
    connection.exec_driver_sql(f"SET lock_timeout = '{TABLE_PATIENCE_MS}ms'")
    connection.commit()
    connection.detach()  # closed, not put back into the pool: that ends the lock and the settings
    yield


@contextmanager
def _sqlserver(connection: Connection) -> Iterator[None]:
    driver: Any = connection.connection.driver_connection
    driver.timeout = 0
    answer = connection.exec_driver_sql(
        "SET NOCOUNT ON; DECLARE @answer INT; "
        "EXEC @answer = sp_getapplock @Resource = N'fluxx_schema_history', @LockMode = N'Exclusive', "
        f"@LockOwner = N'Session', @LockTimeout = {PATIENCE_MS}; SELECT @answer"
    ).scalar_one()
    connection.exec_driver_sql(f"SET LOCK_TIMEOUT {TABLE_PATIENCE_MS}")
    connection.commit()
    connection.detach()
    if answer < 0:
        raise Unavailable("Another migration of this database is taking too long.")
    yield


_LOCKS: Final[dict[DialectName, Callable[[Connection], AbstractContextManager[None]]]] = {
    "sqlite": _sqlite,
    "postgresql": _postgresql,
    "sqlserver": _sqlserver,
}
