"""Opens the database that ``DATABASE_URL`` names: SQLite, PostgreSQL or SQL Server.

Called by the wiring and by ``fluxx db``. Promises that no call waits for ever (connecting, waiting
for a connection, for a lock, for an answer), that errors never show parameters, and that a SQLite
transaction takes the write lock at its beginning, so that it can't fail half-way with SQLITE_BUSY.
Nothing is contacted until the first connection; a lost one empties the pool, and the next is fresh.
"""

from typing import Any, Final, Literal, cast

from sqlalchemy import URL, Connection, Dialect, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import QueuePool

from fluxx.adapters.sql.dialects import OPENINGS, READING, Timeouts
from fluxx.errors import Misconfigured

__all__ = ["DialectName", "Timeouts", "dialect_of", "make_engine", "reading"]

DialectName = Literal["sqlite", "postgresql", "sqlserver"]
"""The three dialects, by the names of the migrations' folders and of this package's extras."""

ALIASES: Final = {"postgres": "postgresql", "sqlserver": "mssql"}
NAMES: Final[dict[str, DialectName]] = {"sqlite": "sqlite", "postgresql": "postgresql", "mssql": "sqlserver"}
RECYCLE_SECONDS: Final = 1800
"""Firewalls forget connections that are older and were quiet."""


def make_engine(
    url: str, *, pool_size: int = 10, timeouts: Timeouts | None = None, application_name: str = "fluxx"
) -> Engine:
    """Return an engine for ``url`` with at most ``pool_size`` connections.

    Accepts the plain schemes (``sqlite``, ``postgresql``, ``mssql``) and those with our driver.
    Raises ``Misconfigured``, in one line without the password, where the URL makes no sense, its
    driver isn't installed, or the folder of a SQLite file doesn't exist; an option that the driver
    doesn't know is found, and raised so, at the first connection.
    """
    parsed = _parse(url)
    backend, limits = parsed.get_backend_name(), timeouts or Timeouts()
    options = {
        "pool_size": pool_size,
        "max_overflow": 0,
        "pool_use_lifo": True,  # the last one used has its pages and prepared statements at hand
        "pool_timeout": limits.pool,
        "pool_recycle": RECYCLE_SECONDS,
    } | OPENINGS[backend].options(parsed, limits, application_name)
    try:
        engine = create_engine(parsed, poolclass=QueuePool, hide_parameters=True, **options)
    except ImportError:
        name = NAMES[backend]
        raise Misconfigured(f"DATABASE_URL: no driver for {name}; run: pip install 'fluxx[{name}]'") from None
    OPENINGS[backend].listen(engine, limits)
    event.listen(engine, "do_connect", _connect)
    return engine


def dialect_of(engine: Engine | Connection) -> DialectName:
    """Return which of the three dialects the engine or connection speaks."""
    return NAMES[engine.dialect.name]


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
    if backend not in OPENINGS:
        known = ", ".join(OPENINGS)
        raise Misconfigured(f"DATABASE_URL: no such kind of database: {backend} (there are: {known})")
    ours = OPENINGS[backend].driver
    if driver not in ("", ours):
        raise Misconfigured(f"DATABASE_URL: the driver {driver} isn't supported; write {backend}://")
    if parsed.password is not None and _has_another_at(url):
        # The rest of the password would stand where drivers' errors name the host.
        raise Misconfigured("DATABASE_URL: only one @ can stand before the host; one in the password is written %40")
    return parsed.set(drivername=f"{backend}+{ours}")


def _has_another_at(url: str) -> bool:
    """Whether one stands behind that of the password: anywhere but in the value of an option."""
    _, _, behind_user = url.partition("://")[2].partition(":")
    place, _, options = behind_user.partition("@")[2].partition("?")
    return any("@" in part for part in (place, *(option.partition("=")[0] for option in options.split("&"))))


def _connect(dialect: Dialect, _record: object, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Connect; what isn't one of the driver's own accidents is an option of the URL that it refuses."""
    errors = dialect.loaded_dbapi
    try:
        return dialect.connect(*args, **options)
    except (errors.OperationalError, errors.InterfaceError):
        raise
    except Exception as error:  # noqa: BLE001 - the drivers name such errors each in its own way
        reason = " ".join(str(error).split())
        raise Misconfigured(f"DATABASE_URL: {reason}") from None
