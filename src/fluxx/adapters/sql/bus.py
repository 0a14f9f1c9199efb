"""The database bus: topics and subscriptions as rows, for those who have no broker.

Publishing writes one row per subscription; receiving locks rows by pushing ``VisibleAt`` ahead;
completing deletes them. A subscription without consumers (job status) is a log that is browsed.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, cast
from uuid import UUID, uuid4

from sqlalchemy import Connection, Row, bindparam, delete, insert, select, update

from fluxx.adapters.sql.connections import Connections
from fluxx.adapters.sql.tables import bus_message
from fluxx.clock import Clock
from fluxx.errors import Misconfigured
from fluxx.ports.bus import Delivery, Message, Recorded
from fluxx.scrubbing import unsigned

LOCK_SECONDS: Final = 30.0
LOOK_EVERY: Final = 0.25
"""Seconds between looks for messages that another process published; this process's own wake at once."""

LOCKING: Final = (
    update(bus_message)
    .where(bus_message.c.BusMessageID == bindparam("id"))
    .values(VisibleAt=bindparam("until"), LockToken=bindparam("token"), DeliveryCount=bus_message.c.DeliveryCount + 1)
)


class DatabaseBus:
    """Keeps the promises of ``ports.bus.Bus``. ``subscriptions`` names those of each topic."""

    def __init__(self, connections: Connections, *, clock: Clock, subscriptions: Mapping[str, Sequence[str]]) -> None:
        self._connections = connections
        self._clock = clock
        self._subscriptions = subscriptions
        self._news = asyncio.Event()

    async def publish(self, topic: str, messages: Sequence[Message]) -> None:
        """See ``Publisher.publish``."""
        rows = [self._row(topic, name, one) for one in messages for name in self._names(topic)]
        await self._connections.write(lambda connection: _add_new(connection, topic, rows))
        self._news.set()

    def subscription(self, topic: str, name: str) -> "DatabaseSubscription":
        """See ``Bus.subscription``."""
        if name not in self._names(topic):
            raise Misconfigured(f"Topic {topic} has no subscription {name}.")
        return DatabaseSubscription(self._connections, topic=topic, name=name, clock=self._clock, news=self._news)

    async def check(self) -> None:
        """See ``Bus.check``."""
        await self._connections.read(lambda connection: connection.execute(select(bus_message.c.BusMessageID).limit(1)))

    async def close(self) -> None:
        """See ``Bus.close``: the connections belong to the database."""

    def _names(self, topic: str) -> Sequence[str]:
        names = self._subscriptions.get(topic)
        if names is None:
            raise Misconfigured(f"There is no topic {topic}.")
        return names

    def _row(self, topic: str, subscription: str, message: Message) -> dict[str, Any]:
        now = self._clock.now()
        return {
            "Topic": topic,
            "Subscription": subscription,
            "MessageId": message.message_id,
            "OrderKey": message.order_key,
            "ContentType": message.content_type,
            "Body": message.body,
            "TraceContext": message.trace_context,
            "EnqueuedAt": now,
            "VisibleAt": now,
            "DeliveryCount": 0,
        }


class DatabaseSubscription:
    """Keeps the promises of ``ports.bus.Subscription``."""

    def __init__(self, connections: Connections, *, topic: str, name: str, clock: Clock, news: asyncio.Event) -> None:
        self._connections = connections
        self._clock = clock
        self._news = news
        # IX_BusMessage_Topic_Subscription
        self._mine = (bus_message.c.Topic == topic, bus_message.c.Subscription == name)
        # Made once: an idle service looks several times a second.
        self._visible = (
            select(bus_message)
            .where(*self._mine, bus_message.c.DeadLetterReason.is_(None), bus_message.c.VisibleAt <= bindparam("now"))
            .order_by(bus_message.c.BusMessageID)
            .with_for_update(skip_locked=True)
            .with_hint(bus_message, "WITH (UPDLOCK, READPAST, ROWLOCK)", "mssql")
        )

    async def receive(self, *, limit: int, wait: float) -> Sequence[Delivery]:
        """See ``Subscription.receive``."""
        loop = asyncio.get_running_loop()
        end = loop.time() + wait
        while True:
            self._news.clear()
            deliveries = await self._connections.write(lambda connection: self._lock(connection, limit))
            left = end - loop.time()
            if deliveries or left <= 0:
                return deliveries
            await _first_of(self._news, min(left, LOOK_EVERY))

    def _lock(self, connection: Connection, limit: int) -> Sequence[Delivery]:
        now, token = self._clock.now(), uuid4()
        rows = connection.execute(self._visible.limit(limit), {"now": now}).all()
        until = now + timedelta(seconds=LOCK_SECONDS)
        if rows:
            connection.execute(LOCKING, [{"id": row.BusMessageID, "until": until, "token": token} for row in rows])
        return [
            Delivery(message=_message(row), lock=(row.BusMessageID, token), delivery_count=row.DeliveryCount + 1)
            for row in rows
        ]

    async def complete(self, deliveries: Sequence[Delivery]) -> None:
        """See ``Subscription.complete``."""
        done = delete(bus_message).where(
            bus_message.c.BusMessageID.in_([_lock(one)[0] for one in deliveries]),
            bus_message.c.LockToken.in_({_lock(one)[1] for one in deliveries}),
        )
        await self._connections.write(lambda connection: connection.execute(done))

    async def abandon(self, delivery: Delivery, *, delay: float = 0.0) -> None:
        """See ``Subscription.abandon``."""
        await self._settle(delivery, {"VisibleAt": self._clock.now() + timedelta(seconds=delay), "LockToken": None})

    async def dead_letter(self, delivery: Delivery, *, reason: str, description: str) -> None:
        """See ``Subscription.dead_letter``. What stays is kept without the signatures of the URLs in it."""
        body = unsigned(delivery.message.body.decode(errors="surrogateescape")).encode(errors="surrogateescape")
        aside = {
            "Body": body,
            "DeadLetterReason": reason,
            "DeadLetterDescription": description,
            "LockToken": None,
        }
        await self._settle(delivery, aside)

    async def _settle(self, delivery: Delivery, values: Mapping[str, Any]) -> None:
        message_id, token = _lock(delivery)
        settling = (
            update(bus_message)
            .where(bus_message.c.BusMessageID == message_id, bus_message.c.LockToken == token)
            .values(values)
        )
        await self._connections.write(lambda connection: connection.execute(settling))

    async def browse(self, *, after: int = 0, limit: int = 100, dead: bool = False) -> Sequence[Recorded]:
        """See ``Subscription.browse``."""
        reason = bus_message.c.DeadLetterReason
        statement = (
            select(bus_message)
            .where(*self._mine, bus_message.c.BusMessageID > after, reason.is_not(None) if dead else reason.is_(None))
            .order_by(bus_message.c.BusMessageID)
            .limit(limit)
        )
        rows = await self._connections.read(lambda connection: connection.execute(statement).all())
        return [
            Recorded(
                message=_message(row),
                sequence=row.BusMessageID,
                enqueued_at=row.EnqueuedAt,
                dead_letter_reason=row.DeadLetterReason,
                dead_letter_description=row.DeadLetterDescription,
            )
            for row in rows
        ]


def _add_new(connection: Connection, topic: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the messages that the topic doesn't hold yet."""
    # UQ_BusMessage_Topic_Subscription_MessageId
    there = select(bus_message.c.Subscription, bus_message.c.MessageId).where(
        bus_message.c.Topic == topic,
        bus_message.c.Subscription.in_({row["Subscription"] for row in rows}),
        bus_message.c.MessageId.in_({row["MessageId"] for row in rows}),
    )
    known = {(row.Subscription, row.MessageId) for row in connection.execute(there)}
    new = {(row["Subscription"], row["MessageId"]): row for row in rows}
    adding = [row for key, row in new.items() if key not in known]
    if adding:
        connection.execute(insert(bus_message), adding)


def _message(row: Row[Any]) -> Message:
    return Message(
        message_id=row.MessageId,
        body=bytes(row.Body),
        order_key=row.OrderKey,
        content_type=row.ContentType,
        trace_context=row.TraceContext,
    )


def _lock(delivery: Delivery) -> tuple[int, UUID]:
    return cast("tuple[int, UUID]", delivery.lock)


async def _first_of(news: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await news.wait()
    except TimeoutError:
        pass
