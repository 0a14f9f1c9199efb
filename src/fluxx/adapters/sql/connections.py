"""Runs SQL off the event loop: each call is one transaction on a thread, retried where that helps.

The stores call ``read`` and ``write`` with a function of a connection. On SQLite one thread owns
the only writing connection, so that writers queue here and never meet SQLITE_BUSY among themselves.
"""

import asyncio
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from fluxx.adapters.sql.engine import reading
from fluxx.errors import Unavailable

T = TypeVar("T")

TRANSACTION_TRIES: Final = 5
TRANSIENT: Final = ("40001", "40P01", "55P03", "1205", "deadlock", "database is locked", "database table is locked")
"""SQLSTATEs, numbers and words by which the three databases say "run that transaction again"."""


class Connections:
    """Threads and connections of one database."""

    def __init__(self, engine: Engine, *, threads: int) -> None:
        self.dialect = engine.dialect.name
        self._engine = engine
        self._reading = reading(engine)
        self._readers = ThreadPoolExecutor(threads, thread_name_prefix="sql")
        single = self.dialect == "sqlite"
        self._writers = ThreadPoolExecutor(1, thread_name_prefix="sql-writer") if single else self._readers

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in a transaction that reads. Raises ``Unavailable``."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, _transact, self._reading, work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in a transaction that writes; it may be run again, so it has no other effects.

        Raises ``Unavailable``; an ``IntegrityError`` comes through.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._writers, _transact, self._engine, work)

    async def close(self) -> None:
        """Wait for what runs, then close the connections."""
        await asyncio.to_thread(self._shut)

    def _shut(self) -> None:
        self._readers.shutdown()
        self._writers.shutdown()
        self._engine.dispose()


def _transact(engine: Engine, work: Callable[[Connection], T]) -> T:
    for attempt in range(1, TRANSACTION_TRIES + 1):
        try:
            with engine.begin() as connection:
                return work(connection)
        except IntegrityError:
            raise
        except (DBAPIError, PoolTimeout) as error:
            if attempt == TRANSACTION_TRIES or not is_transient(error):
                raise Unavailable(f"The database doesn't answer as it should: {first_line(error)}") from error
            time.sleep(random.uniform(0.005, 0.02) * 2**attempt)
    raise AssertionError("unreachable: the last try returns or raises")


def is_transient(error: Exception) -> bool:
    """Whether the database asks for the same transaction to be run again (deadlock, busy)."""
    if not isinstance(error, DBAPIError):
        return False
    words = f"{getattr(error.orig, 'sqlstate', '')} {error.orig}".lower()
    return any(sign.lower() in words for sign in TRANSIENT)


def first_line(error: Exception) -> str:
    """Return the driver's own words, without the statement and its parameters."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return (str(cause).strip().splitlines() or [type(cause).__name__])[0]
