"""Who is there: one lease for each worker, beside the relay's."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import uuid4

from sqlalchemy import Connection, delete, insert, select, update

from fluxx.adapters.sql.connections import Connections
from fluxx.adapters.sql.tables import lease
from fluxx.clock import Clock

PREFIX: Final = "worker "
LONGEST: Final = 100 - len(PREFIX)
"""Characters of a worker's name that the column holds."""

A_WORKERS: Final = lease.c.Name.like(f"{PREFIX}%")


class SqlPresence:
    """Keeps the promises of ``ports.presence.Presence``."""

    def __init__(self, connections: Connections, *, clock: Clock) -> None:
        self._connections = connections
        self._clock = clock
        self._owner = uuid4()

    async def sign_in(self, worker: str, *, stays: float) -> None:
        """See ``Presence.sign_in``."""
        now = self._clock.now()
        name, stay = _name(worker), {"Owner": self._owner, "ExpiresAt": now + timedelta(seconds=stays)}

        def work(connection: Connection) -> None:
            if not connection.execute(update(lease).where(lease.c.Name == name).values(stay)).rowcount:
                connection.execute(insert(lease), {"Name": name, **stay})
            connection.execute(delete(lease).where(A_WORKERS, lease.c.ExpiresAt <= now))

        await self._connections.write(work)

    async def sign_out(self, worker: str) -> None:
        """See ``Presence.sign_out``."""
        statement = delete(lease).where(lease.c.Name == _name(worker), lease.c.Owner == self._owner)
        await self._connections.write(lambda connection: connection.execute(statement))

    async def workers(self) -> Sequence[str]:
        """See ``Presence.workers``."""
        there = lease.c.ExpiresAt > self._clock.now()
        statement = select(lease.c.Name).where(A_WORKERS, there).order_by(lease.c.Name)
        names = await self._connections.read(lambda connection: connection.execute(statement).scalars().all())
        return [name.removeprefix(PREFIX) for name in names]


def _name(worker: str) -> str:
    return PREFIX + worker[:LONGEST]
