"""Many rows in one statement, handed to the driver as they are: the store's hot path.

SQLAlchemy's own work for each row of an executemany costs more than the database's. The tables
stay its to declare; here their columns become one prepared statement per dialect:

- SQLite: one statement, stepped for each row, with values as text;
- PostgreSQL: one statement for all rows, which arrive as one JSON text (its driver makes arrays value by value);
- SQL Server: SQLAlchemy's executemany, which its driver sends in one go.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import msgspec
from sqlalchemy import Column, Connection, CursorResult, Table, bindparam, insert, update

from fluxx.adapters.sql.types import Id, Moment, Processor, id_to_text, moment_to_text

Values: TypeAlias = tuple[Any, ...]
Writing: TypeAlias = Callable[[Connection, Sequence[Values]], CursorResult[Any]]
"""Writes rows, each a tuple of values in the order of the columns that it was made for.

``COUNTING`` names the dialects whose ``rowcount`` is then the number of rows that were written.
"""

COUNTING: Final = frozenset({"sqlite", "postgresql"})

PG_TYPES: Final = {
    "Id": "uuid",
    "Moment": "timestamptz",
    "Unicode": "text",
    "UnicodeText": "text",
    "String": "text",
    "Integer": "integer",
    "BigInteger": "bigint",
    "Boolean": "boolean",
}
TO_TEXT: Final[dict[type, Processor]] = {Id: id_to_text, Moment: moment_to_text}
"""What SQLite keeps as text."""

KEY, FENCE = "JobID", "ClaimToken"


def inserting(table: Table, columns: Sequence[str], dialect: str, *, otherwise: str = "") -> Writing:
    """Return what inserts rows of ``columns`` into ``table``.

    ``otherwise`` says what to do where the key exists; SQL Server has no such clause.
    """
    names, into = ", ".join(f'"{name}"' for name in columns), [table.c[name] for name in columns]
    if dialect == "sqlite":
        marks = ", ".join("?" * len(columns))
        return _stepping(f'INSERT INTO "{table.name}" ({names}) VALUES ({marks}) {otherwise}', into)  # noqa: S608 - our own tables' names
    if dialect == "postgresql":
        return _at_once(f"INSERT INTO {_qualified(table)} ({names}) SELECT * FROM {_recordset(into)} {otherwise}")  # noqa: S608 - as above
    statement = insert(table)
    return lambda connection, rows: _execute(connection, statement, columns, rows)


def updating(table: Table, columns: Sequence[str], dialect: str) -> Writing:
    """Return what sets ``columns`` of the rows named by key and fence: values of the columns, then key, then fence."""
    named = [table.c[name] for name in [*columns, KEY, FENCE]]
    if dialect == "sqlite":
        settings = ", ".join(f'"{name}" = ?' for name in columns)
        return _stepping(f'UPDATE "{table.name}" SET {settings} WHERE "{KEY}" = ? AND "{FENCE}" = ?', named)  # noqa: S608 - as above
    if dialect == "postgresql":
        settings = ", ".join(f'"{name}" = new.v{place}' for place, name in enumerate(columns))
        key, fence = f"new.v{len(columns)}", f"new.v{len(columns) + 1}"
        return _at_once(
            f"UPDATE {_qualified(table)} AS old SET {settings} FROM {_recordset(named)} "  # noqa: S608 - as above
            f'WHERE old."{KEY}" = {key} AND old."{FENCE}" = {fence}'
        )
    statement = (
        update(table)
        .where(table.c[KEY] == bindparam("key"), table.c[FENCE] == bindparam("fence"))
        .values({name: bindparam(name) for name in columns})
    )
    return lambda connection, rows: _execute(connection, statement, [*columns, "key", "fence"], rows)


def _stepping(sql: str, columns: Sequence[Column[Any]]) -> Writing:
    texts = [
        (place, TO_TEXT[type(column.type)]) for place, column in enumerate(columns) if type(column.type) in TO_TEXT
    ]

    def stepped(row: Values) -> list[Any]:
        values = list(row)
        for place, text in texts:
            values[place] = text(values[place])
        return values

    return lambda connection, rows: connection.exec_driver_sql(sql, [tuple(stepped(row)) for row in rows])


def _at_once(sql: str) -> Writing:
    def write(connection: Connection, rows: Sequence[Values]) -> CursorResult[Any]:
        records = [{f"v{place}": value for place, value in enumerate(row)} for row in rows]
        return connection.exec_driver_sql(sql, (msgspec.json.encode(records).decode(),))

    return write


def _recordset(columns: Sequence[Column[Any]]) -> str:
    types = ", ".join(f"v{place} {PG_TYPES[type(column.type).__name__]}" for place, column in enumerate(columns))
    return f"json_to_recordset(%s::json) AS new({types})"


def _execute(
    connection: Connection, statement: Any, columns: Sequence[str], rows: Sequence[Values]
) -> CursorResult[Any]:
    return connection.execute(statement, [dict(zip(columns, row, strict=True)) for row in rows])


def _qualified(table: Table) -> str:
    return f'"{table.schema}"."{table.name}"'
