"""Connections to a database whose waits are short, for tests about what goes wrong there."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

from sqlalchemy import Connection, text

from fluxx.adapters.sql.connections import Connections
from fluxx.adapters.sql.engine import Timeouts, make_engine
from support.facts import BOUND

SHORT: Final = Timeouts(lock=0.1, statement=0.3, pool=0.1, connect=1.0)
ONE: Final = text("SELECT 1")


class Counted:
    """Work that counts how often it is begun."""

    def __init__(self, work: Callable[[Connection], Any] | None = None) -> None:
        self.times = 0
        self._work = work or one

    def __call__(self, connection: Connection) -> Any:
        self.times += 1
        return self._work(connection)


def one(connection: Connection) -> Any:
    """Ask for a 1."""
    return connection.execute(ONE).scalar_one()


@asynccontextmanager
async def troubled(
    url: str, *, threads: int = 2, pool_size: int = 10, patience: float = BOUND, timeouts: Timeouts = SHORT
) -> AsyncIterator[Connections]:
    """Give connections; close them afterwards."""
    connections = Connections(
        make_engine(url, pool_size=pool_size, timeouts=timeouts), threads=threads, patience=patience
    )
    try:
        yield connections
    finally:
        await connections.close()
