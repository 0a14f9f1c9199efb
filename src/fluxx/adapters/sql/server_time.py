"""How far a clock is from the database's, which is the one that counts."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection, literal_column, select

from fluxx.adapters.sql.connections import Connections
from fluxx.adapters.sql.types import Moment
from fluxx.clock import Clock

NOW: Final = {"postgresql": "clock_timestamp()", "mssql": "SYSDATETIMEOFFSET()"}
"""How a server is asked for its time. SQLite has no server: its clock is this machine's."""

SAMPLES: Final = 3
"""Answers asked for; the quickest one counts, because it can be wrong by the least."""


async def offset_of(connections: Connections, clock: Clock) -> timedelta:
    """Return what must be added to ``clock`` to get the database's time. Raises ``Unavailable``."""
    asking = NOW.get(connections.dialect)
    if asking is None:
        return timedelta()
    statement = select(literal_column(asking, Moment))

    def sample(connection: Connection) -> tuple[timedelta, timedelta]:
        before = clock.now()
        there: datetime = connection.execute(statement).scalar_one()
        took = clock.now() - before
        return took, there - (before + took / 2)

    samples = await connections.read(lambda connection: [sample(connection) for _ in range(SAMPLES)])
    return min(samples)[1]
