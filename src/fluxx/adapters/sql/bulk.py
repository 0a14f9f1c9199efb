"""Many rows in one statement, handed to the driver as they are: the store's hot path.

SQLAlchemy's own work for each row of an executemany costs more than the database's. The tables
stay its to declare; here their columns become one prepared statement per dialect:

- SQLite: one statement, stepped for each row, with values as text;
- PostgreSQL: one statement for all rows, which arrive as one array per column (``unnest``);
- SQL Server: SQLAlchemy's executemany, which its driver sends in one go.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias
from uuid import UUID

from sqlalchemy import Column, Connection, Table, bindparam, insert, update

Values: TypeAlias = tuple[Any, ...]
Writing: TypeAlias = Callable[[Connection, Sequence[Values]], None]
"""Writes rows, each a tuple of values in the order of the columns that it was made for."""

PG_TYPES: Final = {
    "Id": "uuid",
    "Moment": "timestamptz",
    "Unicode": "text",
    "UnicodeText": "text",
    "String": "text",
    "Integer": "integer",
    "BigInteger": "bigint",
    "Boolean": "boolean",
    "LargeBinary": "bytea",
}
KEY, FENCE = "JobID", "ClaimToken"


def inserting(table: Table, columns: Sequence[str], dialect: str, *, otherwise: str = "") -> Writing:
    """Return what inserts rows of ``columns`` into ``table``.

    ``otherwise`` says what to do where the key exists; SQL Server has no such clause.
    """
    names = _names(columns)
    if dialect == "sqlite":
        marks = ", ".join("?" * len(columns))
        return _stepping(f'INSERT INTO "{table.name}" ({names}) VALUES ({marks}) {otherwise}')  # noqa: S608 - our own tables' names
    if dialect == "postgresql":
        arrays = _arrays([table.c[name] for name in columns])
        return _at_once(f"INSERT INTO {_qualified(table)} ({names}) SELECT * FROM unnest({arrays}) {otherwise}")  # noqa: S608 - as above
    statement = insert(table)
    return lambda connection, rows: _execute(connection, statement, columns, rows)


def updating(table: Table, columns: Sequence[str], dialect: str) -> Writing:
    """Return what sets ``columns`` of the rows named by key and fence: values of the columns, then key, then fence."""
    if dialect == "sqlite":
        settings = ", ".join(f'"{name}" = ?' for name in columns)
        return _stepping(f'UPDATE "{table.name}" SET {settings} WHERE "{KEY}" = ? AND "{FENCE}" = ?')  # noqa: S608 - as above
    if dialect == "postgresql":
        settings = ", ".join(f'"{name}" = new.v{place}' for place, name in enumerate(columns))
        aliases = ", ".join([f"v{place}" for place in range(len(columns))] + ["key", "fence"])
        arrays = _arrays([table.c[name] for name in [*columns, KEY, FENCE]])
        return _at_once(
            f"UPDATE {_qualified(table)} AS old SET {settings} FROM unnest({arrays}) AS new({aliases}) "  # noqa: S608 - as above
            f'WHERE old."{KEY}" = new.key AND old."{FENCE}" = new.fence'
        )
    statement = (
        update(table)
        .where(table.c[KEY] == bindparam("key"), table.c[FENCE] == bindparam("fence"))
        .values({name: bindparam(name) for name in columns})
    )
    return lambda connection, rows: _execute(connection, statement, [*columns, "key", "fence"], rows)


def _stepping(sql: str) -> Writing:
    def write(connection: Connection, rows: Sequence[Values]) -> None:
        connection.exec_driver_sql(sql, [tuple(map(_sqlite, row)) for row in rows])

    return write


def _at_once(sql: str) -> Writing:
    def write(connection: Connection, rows: Sequence[Values]) -> None:
        connection.exec_driver_sql(sql, tuple(map(list, zip(*rows, strict=True))))

    return write


def _execute(connection: Connection, statement: Any, columns: Sequence[str], rows: Sequence[Values]) -> None:
    connection.execute(statement, [dict(zip(columns, row, strict=True)) for row in rows])


def _sqlite(value: Any) -> Any:
    """Return a value as ``types`` has it on SQLite; times are in UTC, as everywhere in the model."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds")
    return str(value) if isinstance(value, UUID) else value


def _names(columns: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in columns)


def _qualified(table: Table) -> str:
    return f'"{table.schema}"."{table.name}"'


def _arrays(columns: Sequence[Column[Any]]) -> str:
    return ", ".join(f"%s::{PG_TYPES[type(column.type).__name__]}[]" for column in columns)
