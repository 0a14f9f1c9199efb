"""One database as the ports see it. Made by the wiring."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Self

from sqlalchemy import Engine, text

from fluxx.adapters.sql.bus import DatabaseBus
from fluxx.adapters.sql.changes import SqlChanges
from fluxx.adapters.sql.connections import Connections
from fluxx.adapters.sql.jobs import SqlJobs
from fluxx.adapters.sql.observing import SqlObserver
from fluxx.adapters.sql.outbox import SqlOutbox
from fluxx.adapters.sql.presence import SqlPresence
from fluxx.adapters.sql.reading import SqlReader
from fluxx.adapters.sql.registrations import SqlFiles, SqlRegistrations
from fluxx.adapters.sql.retention import SqlRetention
from fluxx.adapters.sql.server_time import offset_of
from fluxx.clock import Clock
from fluxx.telemetry import Facts


class SqlDatabase:
    """The stores over one set of connections; ``close`` gives them back."""

    def __init__(self, engine: Engine, *, clock: Clock, facts: Facts, threads: int = 8) -> None:
        self.engine = engine
        self._connections = Connections(engine, threads=threads)
        self._clock = clock
        self.jobs = SqlJobs(self._connections, clock=clock, facts=facts)
        self.reader = SqlReader(self._connections)
        self.registrations = SqlRegistrations(self._connections, clock=clock)
        self.files = SqlFiles(self._connections)
        self.outbox = SqlOutbox(self._connections, clock=clock)
        self.retention = SqlRetention(self._connections)
        self.observer = SqlObserver(self._connections, clock=clock)
        self.changes = SqlChanges(self._connections)
        self.presence = SqlPresence(self._connections, clock=clock)

    def bus(self, subscriptions: Mapping[str, Sequence[str]]) -> DatabaseBus:
        """Return the topics kept in this database; ``subscriptions`` names those of each topic."""
        return DatabaseBus(self._connections, clock=self._clock, subscriptions=subscriptions)

    async def check(self) -> None:
        """Raise ``Unavailable`` where the database doesn't answer."""
        await self._connections.read(lambda connection: connection.execute(text("SELECT 1")))

    async def offset_of(self, clock: Clock) -> timedelta:
        """Return what must be added to ``clock`` to get the database's time. Raises ``Unavailable``."""
        return await offset_of(self._connections, clock)

    async def close(self) -> None:
        """Wait for what runs, then close the connections."""
        await self._connections.close()

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close."""
        await self.close()
