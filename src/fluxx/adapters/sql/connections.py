"""Runs SQL off the event loop: each call is one transaction on a thread, retried where that helps.

The stores call ``read`` and ``write`` with a function of a connection. On SQLite one thread owns
the only writing connection, so that writers queue here and never meet SQLITE_BUSY among themselves;
those that wait share a transaction, because what one costs there is bringing its pages to the disk.
"""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, Final, TypeAlias, TypeVar, cast

from sqlalchemy import Connection, Engine

from fluxx.adapters.sql.engine import reading
from fluxx.adapters.sql.troubles import TROUBLES, asks_for_another_try, first_line, is_gone, is_ours
from fluxx.errors import Unavailable
from fluxx.loops.gathering import Gatherer

T = TypeVar("T")
Work: TypeAlias = Callable[[Connection], Any]

TRANSACTION_TRIES: Final = 5
TRYING_SECONDS: Final = 5.0
"""No further try is begun after this time: whoever waits for a lock for long has waited enough."""

CALL_SECONDS: Final = 45.0
"""Longest wait for a call, its queueing included: the server's own timeouts are of no use where it is frozen."""

SHARING_REST: Final = 0.01
"""Seconds between shared transactions while more writes wait: a larger group costs hardly more than a small one."""

SHARED: Final = 20
"""Writes that share a transaction at the most: a bad one among them has each done again alone."""


class Connections:
    """Threads and connections of one database."""

    def __init__(self, engine: Engine, *, threads: int, patience: float = CALL_SECONDS) -> None:
        self.dialect = engine.dialect.name
        self._engine = engine
        self._reading = reading(engine)
        self._patience = patience
        self._readers = ThreadPoolExecutor(threads, thread_name_prefix="sql")
        self._shares = self.dialect == "sqlite"
        self._writers = ThreadPoolExecutor(1, thread_name_prefix="sql-writer") if self._shares else self._readers
        self._sharing: Gatherer[Work, Any] = Gatherer(self._write_together, limit=SHARED, rest=SHARING_REST)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in a transaction that reads. Raises ``Unavailable``."""
        return await self._run(self._readers, self._reading, work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in a transaction that writes; it may be run again, so it has no other effects.

        Raises ``Unavailable``, and then it may have been written all the same: the answer to a commit
        can be lost. An ``IntegrityError`` comes through, and so does what is a fault of ours.
        """
        if self._shares:
            return cast("T", await self._answer(self._sharing.add(work)))
        return await self._run(self._writers, self._engine, work)

    async def _write_together(self, works: Sequence[Work]) -> Sequence[Any]:
        def all_of_them(connection: Connection) -> Sequence[Any]:
            return [work(connection) for work in works]

        return await self._run(self._writers, self._engine, all_of_them)

    async def _run(self, executor: Executor, engine: Engine, work: Callable[[Connection], T]) -> T:
        return await self._answer(asyncio.get_running_loop().run_in_executor(executor, _transact, engine, work))

    async def _answer(self, answer: asyncio.Future[T]) -> T:
        try:
            async with asyncio.timeout(self._patience):
                return await answer
        except TimeoutError:
            raise Unavailable(f"The database didn't answer within {self._patience:g} s.") from None

    async def close(self) -> None:
        """Wait for what runs, then close the connections."""
        await asyncio.to_thread(self._shut)

    def _shut(self) -> None:
        self._readers.shutdown(cancel_futures=True)
        self._writers.shutdown(cancel_futures=True)
        self._engine.dispose()


def _transact(engine: Engine, work: Callable[[Connection], T]) -> T:
    no_try_after = time.monotonic() + TRYING_SECONDS
    for attempt in range(1, TRANSACTION_TRIES + 1):
        try:
            return _once(engine, work)
        except TROUBLES as error:
            if is_ours(error):
                raise
            last = attempt == TRANSACTION_TRIES or time.monotonic() > no_try_after
            if last or not asks_for_another_try(error):
                raise Unavailable(f"The database doesn't answer as it should: {first_line(error)}") from error
            time.sleep(random.uniform(0.005, 0.02) * 2**attempt)
    raise AssertionError("unreachable: the last try returns or raises")


def _once(engine: Engine, work: Callable[[Connection], T]) -> T:
    with engine.connect() as connection, connection.begin() as transaction:
        result = work(connection)
        try:
            transaction.commit()
        except TROUBLES as error:
            if is_gone(error):  # Nobody knows whether it was written, so it isn't simply done again.
                raise Unavailable(f"The database went away during a commit: {first_line(error)}") from error
            raise
        return result
