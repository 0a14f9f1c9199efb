"""Applies the migration scripts: strictly in order, each once, each in one transaction.

Called by ``fluxx db`` and, for the embedded database, at start-up. Two migrators at once wait for
each other; one that is killed leaves nothing half done and holds nobody up. Flyway and this runner
can take turns on one database: see docs/decisions/0001-migration-runner.md.
"""

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.resources.abc import Traversable
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from fluxx.adapters.sql import migration_history as history
from fluxx.adapters.sql import scripts
from fluxx.adapters.sql.engine import dialect_of, reading
from fluxx.adapters.sql.migration_history import Applied
from fluxx.adapters.sql.migration_lock import locked
from fluxx.adapters.sql.scripts import Script
from fluxx.adapters.sql.troubles import first_line
from fluxx.errors import Misconfigured, Unavailable


class MigrationInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One migration; an ``unknown`` one was applied by a newer release. ``installed_on`` is in UTC."""

    version: int
    description: str
    script: str
    state: Literal["applied", "pending", "unknown"]
    installed_on: datetime | None = None


def migrate(engine: Engine, *, folder: Traversable | None = None) -> list[MigrationInfo]:
    """Apply what is pending and return it: nothing where the database is up to date.

    ``folder`` holds scripts other than this package's own. Raises ``Misconfigured`` where a script
    fails (nothing of it stays) or was changed after it was applied, ``Unavailable`` where the
    database can't be reached or another migrator takes too long.
    """
    wanted = _wanted(engine, folder)
    done: list[int] = []
    with locked(engine) as connection:
        while (script := _apply_next(connection, wanted)) is not None:
            done.append(script.version)
    return [one for one in info(engine, folder=folder) if one.version in done] if done else []


def info(engine: Engine, *, folder: Traversable | None = None) -> list[MigrationInfo]:
    """Return every migration, known or applied, in order. Raises as ``migrate`` does."""
    wanted = {script.version: script for script in _wanted(engine, folder)}
    try:
        with reading(engine).connect() as connection:
            applied = history.read(connection)
    except DBAPIError as error:
        raise Unavailable(f"The database doesn't answer as it should: {first_line(error)}") from error
    _pending(list(wanted.values()), applied)
    return [_info(version, wanted, applied) for version in sorted(wanted.keys() | applied.keys())]


def pending(engine: Engine, *, folder: Traversable | None = None) -> list[MigrationInfo]:
    """Return what ``migrate`` would apply, in order. Raises as ``migrate`` does."""
    return [one for one in info(engine, folder=folder) if one.state == "pending"]


def check(engine: Engine, *, folder: Traversable | None = None) -> None:
    """Raise ``Misconfigured`` where the database is behind; one that is ahead is fine, for scripts only add."""
    if waiting := pending(engine, folder=folder):
        missing = ", ".join(f"V{one.version}" for one in waiting)
        raise Misconfigured(f"The database is behind ({missing} missing): run `fluxx db migrate`.")


def _wanted(engine: Engine, folder: Traversable | None) -> list[Script]:
    return scripts.read(folder or scripts.shipped(dialect_of(engine)))


def _info(version: int, wanted: Mapping[int, Script], applied: Mapping[int, Applied]) -> MigrationInfo:
    script, row = wanted.get(version), applied.get(version)
    return MigrationInfo(
        version=version,
        description=script.description if script else applied[version].description,
        script=script.name if script else applied[version].script,
        state="pending" if row is None else "applied" if script else "unknown",
        installed_on=row.installed_on if row else None,
    )


def _pending(wanted: Sequence[Script], applied: Mapping[int, Applied]) -> list[Script]:
    """Return what wasn't applied; refuse scripts that were changed since, and gaps."""
    for script in wanted:
        if script.version in applied and applied[script.version].checksum != script.checksum:
            raise Misconfigured(f"{script.name} was changed after it was applied: restore it, or the database.")
    waiting = [script for script in wanted if script.version not in applied]
    if waiting and waiting[0].version < max(applied, default=0):
        raise Misconfigured(f"{waiting[0].name} wasn't applied, though V{max(applied)} was: the order is broken.")
    return waiting


def _apply_next(connection: Connection, wanted: Sequence[Script]) -> Script | None:
    """Apply the first pending script in one transaction; None where nothing is pending."""
    with connection.begin():
        history.create(connection)
        waiting = _pending(wanted, history.read(connection))
        if not waiting:
            return None
        started = time.monotonic()
        try:
            _run(connection, waiting[0])
        except connection.dialect.loaded_dbapi.Error as error:
            reason = " ".join(str(error).split())
            raise Misconfigured(f"{waiting[0].name} failed; nothing of it was applied: {reason}") from error
        history.record(connection, waiting[0], milliseconds=round(1000 * (time.monotonic() - started)))
        return waiting[0]


def _run(connection: Connection, script: Script) -> None:
    """Send a script to the driver itself: there are no parameters, and a % is a %."""
    dialect = dialect_of(connection)
    cursor: Any = connection.connection.cursor()
    for statement in scripts.statements(script, dialect):
        cursor.execute(statement)
        # SQL Server tells the error of a batch's second statement only to who asks for its result.
        while dialect == "sqlserver" and cursor.nextset():
            pass
    if dialect == "sqlite" and (broken := cursor.execute("PRAGMA foreign_key_check").fetchall()):
        raise Misconfigured(f"{script.name} failed; it would leave rows that point nowhere: {broken[0][0]}")
    cursor.close()
