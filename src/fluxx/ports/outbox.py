"""What the database promises about events that wait to be published."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

import msgspec


class OutboxEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event as it will be published: ``body`` is the whole envelope, ``order_key`` the JobID."""

    outbox_id: int
    event_id: UUID
    order_key: str
    body: bytes
    trace_context: str | None = None


class Outbox(Protocol):
    """The events written beside the transitions, until the broker has them."""

    async def lead(self, owner: UUID, *, lease_for: float) -> bool:
        """Make ``owner`` the only relay for ``lease_for`` seconds, or say False while another one is.

        Called again by the same owner it renews. One relay at a time keeps each job's order.
        """
        ...

    async def unpublished(self, *, limit: int) -> Sequence[OutboxEvent]:
        """Return the oldest unpublished events in the order of their writing."""
        ...

    async def mark_published(self, outbox_ids: Sequence[int]) -> None:
        """Mark events as published; marking twice is harmless."""
        ...
