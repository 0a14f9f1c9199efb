"""What a message bus promises: topics with subscriptions, peek-lock, dead letters.

Azure Service Bus and the database bus keep the same promise: at least once, and in order for the
messages of one ``order_key``.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

import msgspec


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A message to publish. ``message_id`` makes it recognisable when it is published twice."""

    message_id: str
    body: bytes
    order_key: str | None = None
    content_type: str = "application/json"
    trace_context: str | None = None


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """A received message, held under a lock until it is settled or the lock runs out.

    ``lock`` belongs to the adapter. ``delivery_count`` starts at 1.
    """

    message: Message
    lock: object
    delivery_count: int


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """A message seen by browsing, without taking it. ``sequence`` grows within one subscription."""

    message: Message
    sequence: int
    enqueued_at: datetime
    dead_letter_reason: str | None = None
    dead_letter_description: str | None = None


class Publisher(Protocol):
    """The sending side."""

    async def publish(self, topic: str, messages: Sequence[Message]) -> None:
        """Hand messages to a topic, in order; returns once the broker has them all.

        A message id that the topic knows already may be dropped.
        """
        ...


class Subscription(Protocol):
    """One subscription of one topic, with competing consumers."""

    async def receive(self, *, limit: int, wait: float) -> Sequence[Delivery]:
        """Return up to ``limit`` messages under lock; wait up to ``wait`` seconds for the first."""
        ...

    async def complete(self, deliveries: Sequence[Delivery]) -> None:
        """Remove messages that are done with. A lost lock is passed over: they come again."""
        ...

    async def abandon(self, delivery: Delivery, *, delay: float = 0.0) -> None:
        """Give a message back, to come again after ``delay`` seconds (at least where supported)."""
        ...

    async def dead_letter(self, delivery: Delivery, *, reason: str, description: str) -> None:
        """Put a message aside for good, with the reason."""
        ...

    async def browse(self, *, after: int = 0, limit: int = 100, dead: bool = False) -> Sequence[Recorded]:
        """Return messages (or dead letters) beyond sequence ``after``, oldest first, taking none."""
        ...


class Bus(Publisher, Protocol):
    """A broker: publish to a topic, open a subscription."""

    def subscription(self, topic: str, name: str) -> Subscription:
        """Return a subscription; nothing is contacted yet."""
        ...

    async def check(self) -> None:
        """Raise ``Misconfigured`` naming a missing topic or subscription, ``Unavailable`` where away."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...
