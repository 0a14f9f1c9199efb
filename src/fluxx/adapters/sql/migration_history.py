"""The table ``fluxx_schema_history``: what was applied. Its form, and its checksums, are Flyway's.

Used by the runner in ``migrations.py`` inside its own transactions.
"""

from datetime import UTC, datetime
from typing import Final

import msgspec
from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    DateTime,
    Integer,
    MetaData,
    Table,
    Unicode,
    func,
    insert,
    select,
    text,
)
from sqlalchemy import inspect as inspected

from fluxx.adapters.sql.engine import DialectName, dialect_of
from fluxx.adapters.sql.scripts import Script
from fluxx.errors import Misconfigured

NAME: Final = "fluxx_schema_history"
HOME: Final[dict[DialectName, str | None]] = {"sqlite": None, "postgresql": "public", "sqlserver": "dbo"}
"""The schema it is in, whoever asks: logins have default schemas of their own."""

NOW: Final[dict[DialectName, str]] = {
    "sqlite": "CURRENT_TIMESTAMP",
    "postgresql": "now() AT TIME ZONE 'UTC'",
    "sqlserver": "SYSUTCDATETIME()",
}
"""The database's clock, in UTC, without an offset: so is the column."""


class Applied(msgspec.Struct, frozen=True, kw_only=True):
    """A migration that was applied. ``installed_on`` is in UTC (Flyway's own rows: taken for it)."""

    version: int
    description: str
    script: str
    checksum: int
    installed_on: datetime


def create(connection: Connection) -> None:
    """Make the table where it isn't there."""
    _table(connection).create(connection, checkfirst=True)


def read(connection: Connection) -> dict[int, Applied]:
    """Return what was applied, by version; nothing where there is no such table.

    Raises ``Misconfigured`` where the table tells of a failed migration or isn't about our scripts.
    """
    table = _table(connection)
    if not inspected(connection).has_table(NAME, schema=table.schema):
        return {}
    rows = connection.execute(select(table).where(table.c.version.is_not(None)).order_by(table.c.installed_rank)).all()
    for row in rows:
        if not row.success:
            raise Misconfigured(f"{NAME} says that {row.script} failed: mend the database, then remove that row.")
        if not row.version.isdecimal() or row.checksum is None:
            raise Misconfigured(f"{NAME} tells of {row.script}, which is not a migration of this service.")
    return {
        int(row.version): Applied(
            version=int(row.version),
            description=row.description,
            script=row.script,
            checksum=row.checksum,
            installed_on=row.installed_on.replace(tzinfo=UTC),
        )
        for row in rows
    }


def record(connection: Connection, script: Script, *, milliseconds: int) -> None:
    """Add a row for a script that was just applied."""
    table = _table(connection)
    rank = connection.execute(select(func.coalesce(func.max(table.c.installed_rank), 0))).scalar_one()
    connection.execute(
        insert(table).values(
            installed_rank=rank + 1,
            version=str(script.version),
            description=script.description,
            type="SQL",
            script=script.name,
            checksum=script.checksum,
            installed_by=connection.engine.url.username or "fluxx",
            installed_on=text(NOW[dialect_of(connection)]),
            execution_time=milliseconds,
            success=True,
        )
    )


def _table(connection: Connection) -> Table:
    return Table(
        NAME,
        MetaData(),
        Column("installed_rank", Integer, primary_key=True, autoincrement=False),
        Column("version", Unicode(50)),
        Column("description", Unicode(200)),
        Column("type", Unicode(20), nullable=False),
        Column("script", Unicode(1000), nullable=False),
        Column("checksum", Integer),
        Column("installed_by", Unicode(100), nullable=False),
        Column("installed_on", DateTime, nullable=False, server_default=func.current_timestamp()),
        Column("execution_time", Integer, nullable=False),
        Column("success", Boolean, nullable=False),
        schema=HOME[dialect_of(connection)],
    )
