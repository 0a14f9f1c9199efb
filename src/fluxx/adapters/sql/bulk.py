"""Many rows in one statement, handed to the driver as they are: the store's hot path.

SQLAlchemy's own work for each row of an executemany costs more than the database's. The tables
stay its to declare; here their columns become one prepared statement per dialect:

- SQLite and PostgreSQL: one statement for all rows, which arrive as one JSON text. PostgreSQL's driver would make
  arrays value by value; SQLite's would give up Python's lock at every row, and wait for it again;
- SQL Server: SQLAlchemy's executemany, which its driver sends in one go.

Rows are made ready before there is a connection: on the event loop, that is, where nobody waits for Python's lock. The
thread that writes them has hardly a use for it.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import msgspec
from sqlalchemy import Column, Connection, CursorResult, Executable, Table, bindparam, insert, update

from fluxx.adapters.sql.types import Moment, moment_to_text

Values: TypeAlias = tuple[Any, ...]
Ready: TypeAlias = Callable[[Connection], CursorResult[Any]]
"""Writes the rows that were made ready.

``COUNTING`` names the dialects whose ``rowcount`` is then the number of rows that were written.
"""
Making: TypeAlias = Callable[[Sequence[Values]], Ready]
"""Makes rows ready, each a tuple of values in the order of the columns that it was made for."""

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


def inserting(table: Table, columns: Sequence[str], dialect: str, *, otherwise: str = "") -> Making:
    """Return what inserts rows of ``columns`` into ``table``.

    ``otherwise`` says what to do where the key exists; SQL Server has no such clause.
    """
    names, into = ", ".join(f'"{name}"' for name in columns), [table.c[name] for name in columns]
    if dialect == "sqlite":
        # Without WHERE its parser would take ON CONFLICT for the condition of a join.
        arrays = f"{_arrays(into)} WHERE true {otherwise}"
        return _sqlite(f'INSERT INTO "{table.name}" ({names}) SELECT * FROM {arrays}', into)  # noqa: S608 - our own tables' names
    if dialect == "postgresql":
        sql = f"INSERT INTO {_qualified(table)} ({names}) SELECT * FROM {_recordset(into)} {otherwise}"  # noqa: S608 - as above
        return _postgresql(sql, len(into))
    statement = insert(table)
    return _executed(statement, columns)


def updating(table: Table, columns: Sequence[str], dialect: str) -> Making:
    """Return what sets ``columns`` of the rows named by key and fence, the next fence (or none) among them.

    A row is the values of the columns, then the key, then the fence as it was.
    """
    named = [table.c[name] for name in [*columns, KEY, FENCE]]
    settings = ", ".join(f'"{name}" = new.v{place}' for place, name in enumerate(columns))
    fenced = f'old."{KEY}" = new.v{len(columns)} AND old."{FENCE}" = new.v{len(columns) + 1}'
    if dialect == "sqlite":
        return _sqlite(f'UPDATE "{table.name}" AS old SET {settings} FROM {_arrays(named)} WHERE {fenced}', named)  # noqa: S608 - as above
    if dialect == "postgresql":
        sql = f"UPDATE {_qualified(table)} AS old SET {settings} FROM {_recordset(named)} WHERE {fenced}"  # noqa: S608 - as above
        return _postgresql(sql, len(named))
    statement = (
        update(table)
        .where(table.c[KEY] == bindparam("key"), table.c[FENCE] == bindparam("fence"))
        .values({name: bindparam(name) for name in columns})
    )
    return _executed(statement, [*columns, "key", "fence"])


def _sqlite(sql: str, columns: Sequence[Column[Any]]) -> Making:
    moments = [place for place, column in enumerate(columns) if isinstance(column.type, Moment)]

    def array(row: Values) -> list[Any]:
        values = list(row)
        for place in moments:
            values[place] = moment_to_text(values[place])
        return values

    return lambda rows: _handed(sql, [array(row) for row in rows])


def _arrays(columns: Sequence[Column[Any]]) -> str:
    values = ", ".join(f"json_extract(value, '$[{place}]') AS v{place}" for place in range(len(columns)))
    return f"(SELECT {values} FROM json_each(?)) AS new"  # noqa: S608 - places only


def _postgresql(sql: str, width: int) -> Making:
    names = [f"v{place}" for place in range(width)]
    return lambda rows: _handed(sql, [dict(zip(names, row, strict=True)) for row in rows])


def _recordset(columns: Sequence[Column[Any]]) -> str:
    types = ", ".join(f"v{place} {PG_TYPES[type(column.type).__name__]}" for place, column in enumerate(columns))
    return f"json_to_recordset(%s::json) AS new({types})"


def _handed(sql: str, rows: Sequence[Any]) -> Ready:
    text = msgspec.json.encode(rows).decode()
    return lambda connection: connection.exec_driver_sql(sql, (text,))


def _executed(statement: Executable, columns: Sequence[str]) -> Making:
    def made(rows: Sequence[Values]) -> Ready:
        named = [dict(zip(columns, row, strict=True)) for row in rows]
        return lambda connection: connection.execute(statement, named)

    return made


def _qualified(table: Table) -> str:
    return f'"{table.schema}"."{table.name}"'
