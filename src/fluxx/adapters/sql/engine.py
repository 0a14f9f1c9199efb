"""Opens the database that ``DATABASE_URL`` names: SQLite, PostgreSQL or SQL Server.

Called by the wiring and by ``fluxx db``. Promises that no call waits for ever (connecting, waiting
for a connection, for a lock, for an answer), that errors never show parameters, and that a SQLite
transaction takes the write lock at its beginning, so that it can't fail half-way with SQLITE_BUSY.
Nothing is contacted until the first connection; a lost one empties the pool, and the next is fresh.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal, cast

import msgspec
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.pool import QueuePool

from fluxx.adapters.sql.tables import SCHEMAS
from fluxx.errors import Misconfigured

DialectName = Literal["sqlite", "postgresql", "sqlserver"]
"""The three dialects, by the names of the migrations' folders."""

DRIVERS: Final = {"sqlite": "sqlite+pysqlite", "postgresql": "postgresql+psycopg", "mssql": "mssql+mssqlpython"}
ALIASES: Final = {"postgres": "postgresql", "sqlserver": "mssql"}
NAMES: Final[dict[str, DialectName]] = {"sqlite": "sqlite", "postgresql": "postgresql", "mssql": "sqlserver"}
READING: Final = "fluxx_reading"


class Timeouts(msgspec.Struct, frozen=True, kw_only=True):
    """The longest waits, in seconds: to connect, for a pooled connection, for a lock, for an answer."""

    connect: float = 10.0
    pool: float = 10.0
    lock: float = 10.0
    statement: float = 30.0


def make_engine(
    url: str, *, pool_size: int = 10, timeouts: Timeouts | None = None, application_name: str = "fluxx"
) -> Engine:
    """Return an engine for ``url`` with at most ``pool_size`` connections.

    Accepts the plain schemes (``sqlite``, ``postgresql``, ``mssql``) and those with our driver.
    Raises ``Misconfigured``, in one line without the password, where the URL makes no sense, its
    driver isn't installed, or the folder of a SQLite file doesn't exist.
    """
    parsed = _parse(url)
    limits = timeouts or Timeouts()
    made = _MAKERS[parsed.get_backend_name()](parsed, limits, application_name)
    options = {"pool_size": pool_size, "max_overflow": 0, "pool_timeout": limits.pool, "pool_recycle": 1800} | made
    try:
        engine = create_engine(parsed, poolclass=QueuePool, hide_parameters=True, **options)
    except ImportError:
        name = dialect_name(parsed.get_backend_name())
        raise Misconfigured(f"DATABASE_URL: no driver for {name}; run: pip install 'fluxx[{name}]'") from None
    except (ArgumentError, NoSuchModuleError, TypeError) as error:
        raise Misconfigured(f"DATABASE_URL: {error}") from None
    _LISTENERS[engine.dialect.name](engine, limits)
    return engine


def dialect_of(engine: Engine | Connection) -> DialectName:
    """Return which of the three dialects the engine or connection speaks."""
    return dialect_name(engine.dialect.name)


def dialect_name(backend: str) -> DialectName:
    """Return our name for SQLAlchemy's ``backend`` name."""
    return NAMES[backend]


def reading(engine: Engine) -> Engine:
    """Return the same engine (same pool) for transactions that only read.

    On SQLite they don't wait for the writer and must not write; elsewhere nothing differs.
    """
    return cast("Engine", engine.execution_options(**{READING: True}))


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise Misconfigured("DATABASE_URL is not a database URL, e.g. postgresql://user:password@host/name") from None
    backend, _, driver = parsed.drivername.partition("+")
    backend = ALIASES.get(backend, backend)
    ours = DRIVERS.get(backend)
    if ours is None:
        known = ", ".join(DRIVERS)
        raise Misconfigured(f"DATABASE_URL: no such kind of database: {backend} (there are: {known})")
    if driver and f"{backend}+{driver}" != ours:
        raise Misconfigured(f"DATABASE_URL: the driver {driver} isn't supported; write {backend}:// or {ours}://")
    return parsed.set(drivername=ours)


def _sqlite(url: URL, limits: Timeouts, _application_name: str) -> dict[str, Any]:
    options: dict[str, Any] = {
        "connect_args": {"check_same_thread": False, "timeout": limits.lock, "isolation_level": None},
        "execution_options": {"schema_translate_map": dict.fromkeys(SCHEMAS)},
    }
    if _in_memory(url):
        # A database in memory is its connection: there can only be one, and it must stay.
        return options | {"pool_size": 1, "pool_recycle": -1}
    if not (folder := Path(url.database or "").parent).is_dir():
        raise Misconfigured(f"DATABASE_URL: the folder {folder} doesn't exist")
    return options


def _in_memory(url: URL) -> bool:
    return url.database in (None, "", ":memory:")


def _postgresql(url: URL, limits: Timeouts, application_name: str) -> dict[str, Any]:
    waits = {
        "statement_timeout": limits.statement,
        "lock_timeout": limits.lock,
        # A process that froze in a transaction must not hold its locks for ever.
        "idle_in_transaction_session_timeout": 2 * limits.statement,
    }
    settings = " ".join(f"-c {name}={round(1000 * seconds)}" for name, seconds in waits.items())
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


def _sqlserver(_url: URL, limits: Timeouts, _application_name: str) -> dict[str, Any]:
    # The driver keeps the application's name to itself; its timeout here is the one for connecting.
    return {"connect_args": {"timeout": max(1, round(limits.connect))}}


_MAKERS: Final[dict[str, Callable[[URL, Timeouts, str], dict[str, Any]]]] = {
    "sqlite": _sqlite,
    "postgresql": _postgresql,
    "mssql": _sqlserver,
}


def _listen_sqlite(engine: Engine, _limits: Timeouts) -> None:
    def connected(connection: Any, _record: object) -> None:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}").close()

    def begun(connection: Connection) -> None:
        only_reads = connection.get_execution_options().get(READING, False)
        connection.exec_driver_sql("BEGIN" if only_reads else "BEGIN IMMEDIATE")

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)


def _listen_postgresql(_engine: Engine, _limits: Timeouts) -> None:
    """Everything is said in the connection string."""


def _listen_sqlserver(engine: Engine, limits: Timeouts) -> None:
    def connected(connection: Any, _record: object) -> None:
        connection.timeout = max(1, round(limits.statement))
        cursor = connection.cursor()
        cursor.execute(f"SET LOCK_TIMEOUT {round(1000 * limits.lock)}")
        cursor.close()
        connection.commit()

    event.listen(engine, "connect", connected)


_LISTENERS: Final[dict[str, Callable[[Engine, Timeouts], None]]] = {
    "sqlite": _listen_sqlite,
    "postgresql": _listen_postgresql,
    "mssql": _listen_sqlserver,
}
