"""Many rows in one statement, handed to the driver as they are: the store's hot path.

SQLAlchemy's own work for each row of an executemany costs more than the database's. The tables
stay its to declare; here their columns become one prepared statement per dialect:

- SQLite and PostgreSQL: one statement for all rows, which arrive as one JSON text. PostgreSQL's driver would make
  arrays value by value; SQLite's would give up Python's lock at every row, and wait for it again;
- SQL Server: SQLAlchemy's executemany, which its driver sends in one go.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import msgspec
from sqlalchemy import Column, Connection, CursorResult, Table, bindparam, insert, update

from fluxx.adapters.sql.types import Moment, moment_to_text

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
KEY, FENCE = "JobID", "ClaimToken"


def inserting(table: Table, columns: Sequence[str], dialect: str, *, otherwise: str = "") -> Writing:
    """Return what inserts rows of ``columns`` into ``table``.

    ``otherwise`` says what to do where the key exists; SQL Server has no such clause.
    """
    names, into = ", ".join(f'"{name}"' for name in columns), [table.c[name] for name in columns]
    if dialect == "sqlite":
        # Without WHERE its parser would take ON CONFLICT for the condition of a join.
        arrays = f"{_arrays(into)} WHERE true {otherwise}"
        return _sqlite(f'INSERT INTO "{table.name}" ({names}) SELECT * FROM {arrays}', into)  # noqa: S608 - our own tables' names
    if dialect == "postgresql":
        return _postgresql(f"INSERT INTO {_qualified(table)} ({names}) SELECT * FROM {_recordset(into)} {otherwise}")  # noqa: S608 - as above
    statement = insert(table)
    return lambda connection, rows: _execute(connection, statement, columns, rows)


def updating(table: Table, columns: Sequence[str], dialect: str) -> Writing:
    """Return what sets ``columns`` of the rows named by key and fence, and takes the fence away.

    A row is the values of the columns, then the key, then the fence.
    """
    named = [table.c[name] for name in [*columns, KEY, FENCE]]
    settings = ", ".join([*(f'"{name}" = new.v{place}' for place, name in enumerate(columns)), f'"{FENCE}" = NULL'])
    fenced = f'old."{KEY}" = new.v{len(columns)} AND old."{FENCE}" = new.v{len(columns) + 1}'
    if dialect == "sqlite":
        return _sqlite(f'UPDATE "{table.name}" AS old SET {settings} FROM {_arrays(named)} WHERE {fenced}', named)  # noqa: S608 - as above
    if dialect == "postgresql":
        return _postgresql(f"UPDATE {_qualified(table)} AS old SET {settings} FROM {_recordset(named)} WHERE {fenced}")  # noqa: S608 - as above
    statement = (
        update(table)
        .where(table.c[KEY] == bindparam("key"), table.c[FENCE] == bindparam("fence"))
        .values({**{name: bindparam(name) for name in columns}, FENCE: None})
    )
    return lambda connection, rows: _execute(connection, statement, [*columns, "key", "fence"], rows)


def _sqlite(sql: str, columns: Sequence[Column[Any]]) -> Writing:
    moments = [place for place, column in enumerate(columns) if isinstance(column.type, Moment)]

    def array(row: Values) -> list[Any]:
        values = list(row)
        for place in moments:
            values[place] = moment_to_text(values[place])
        return values

    return lambda connection, rows: _handed(connection, sql, [array(row) for row in rows])


def _arrays(columns: Sequence[Column[Any]]) -> str:
    values = ", ".join(f"json_extract(value, '$[{place}]') AS v{place}" for place in range(len(columns)))
    return f"(SELECT {values} FROM json_each(?)) AS new"  # noqa: S608 - places only


def _postgresql(sql: str) -> Writing:
    return lambda connection, rows: _handed(
        connection, sql, [{f"v{place}": value for place, value in enumerate(row)} for row in rows]
    )


def _recordset(columns: Sequence[Column[Any]]) -> str:
    types = ", ".join(f"v{place} {PG_TYPES[type(column.type).__name__]}" for place, column in enumerate(columns))
    return f"json_to_recordset(%s::json) AS new({types})"


def _handed(connection: Connection, sql: str, rows: Sequence[Any]) -> CursorResult[Any]:
    return connection.exec_driver_sql(sql, (msgspec.json.encode(rows).decode(),))


def _execute(
    connection: Connection, statement: Any, columns: Sequence[str], rows: Sequence[Values]
) -> CursorResult[Any]:
    return connection.execute(statement, [dict(zip(columns, row, strict=True)) for row in rows])


def _qualified(table: Table) -> str:
    return f'"{table.schema}"."{table.name}"'
