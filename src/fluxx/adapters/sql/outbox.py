"""The outbox: events beside the transitions, and the lease that lets one relay work at a time."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import Connection, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from fluxx.adapters.sql.connections import Connections
from fluxx.adapters.sql.tables import lease, outbox
from fluxx.clock import Clock
from fluxx.ports.outbox import OutboxEvent

RELAY: Final = "relay"


class SqlOutbox:
    """Keeps the promises of ``ports.outbox.Outbox``."""

    def __init__(self, connections: Connections, *, clock: Clock) -> None:
        self._connections = connections
        self._clock = clock

    async def lead(self, owner: UUID, *, lease_for: float) -> bool:
        """See ``Outbox.lead``."""
        now = self._clock.now()
        until = now + timedelta(seconds=lease_for)

        def work(connection: Connection) -> bool:
            taking = (
                update(lease)
                .where(lease.c.Name == RELAY, or_(lease.c.Owner == owner, lease.c.ExpiresAt <= now))
                .values(Owner=owner, ExpiresAt=until)
            )
            if connection.execute(taking).rowcount:
                return True
            if connection.scalar(select(lease.c.Name).where(lease.c.Name == RELAY)) is None:
                connection.execute(insert(lease), {"Name": RELAY, "Owner": owner, "ExpiresAt": until})
                return True
            return False

        try:
            return await self._connections.write(work)
        except IntegrityError:
            return False

    async def unpublished(self, *, limit: int) -> Sequence[OutboxEvent]:
        """See ``Outbox.unpublished``."""
        # IX_Outbox_Unpublished: holds what waits, and nothing else.
        statement = select(outbox).where(outbox.c.PublishedAt.is_(None)).order_by(outbox.c.OutboxID).limit(limit)
        rows = await self._connections.read(lambda connection: connection.execute(statement).all())
        return [
            OutboxEvent(
                outbox_id=row.OutboxID,
                event_id=row.EventId,
                order_key=str(row.JobID),
                body=row.Body.encode(),
                trace_context=row.TraceContext,
            )
            for row in rows
        ]

    async def mark_published(self, outbox_ids: Sequence[int]) -> None:
        """See ``Outbox.mark_published``."""
        statement = update(outbox).where(outbox.c.OutboxID.in_(outbox_ids)).values(PublishedAt=self._clock.now())
        await self._connections.write(lambda connection: connection.execute(statement))
