"""Relay: publishes what waits in the outbox to ``TOPIC_JOB_STATUS`` (story 11).

An event leaves at least once, under one id, after the transition it tells of is committed; one
relay works at a time, which keeps each job's order.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from datetime import timedelta
from typing import Final
from uuid import uuid4

from fluxx.clock import Clock
from fluxx.errors import FluxxError, Unavailable
from fluxx.messages.job_status import CONTENT_TYPE
from fluxx.ports.bus import Message, Publisher
from fluxx.ports.outbox import Outbox, OutboxEvent
from fluxx.telemetry import EVENTS_PUBLISHED, Facts

BATCH: Final = 500
IDLE_REST: Final = 0.5
LEASE: Final = 15.0
"""Seconds for which a silent relay keeps the others from taking over."""


class Relay:
    """The step of the relay loop."""

    def __init__(self, *, outbox: Outbox, publisher: Publisher, topic: str, clock: Clock, facts: Facts) -> None:
        self._outbox = outbox
        self._publisher = publisher
        self._topic = topic
        self._clock = clock
        self._facts = facts
        self._owner = uuid4()
        self._leads_until = clock.now()
        self._refusal: str | None = None

    async def step(self) -> float:
        """Publish what waits; return the seconds to rest."""
        if not await self._leads():
            self._refusal = None  # how it goes now, the leading one knows
            return LEASE / 3
        events = await self._outbox.unpublished(limit=BATCH)
        if events:
            await self._publish(events)
            await self._outbox.mark_published([event.outbox_id for event in events])
            self._facts.tell(EVENTS_PUBLISHED, count=len(events))
        return 0.0 if len(events) == BATCH else IDLE_REST

    async def check(self) -> None:
        """Raise ``Unavailable`` where events wait because the broker didn't take them at the last try.

        The bus's own check can't tell: it sends nothing.
        """
        if self._refusal is not None:
            raise Unavailable(f"Events wait to be published. {self._refusal}")

    async def _publish(self, events: Sequence[OutboxEvent]) -> None:
        try:
            with ExitStack() as spans:
                messages = [_message(event, self._span(spans, event)) for event in events]
                await self._publisher.publish(self._topic, messages)
        except FluxxError as error:
            self._refusal = str(error)
            raise
        self._refusal = None

    def _span(self, spans: ExitStack, event: OutboxEvent) -> str | None:
        """Open the span of an event that belongs to a trace; return what its message carries on."""
        if event.trace_context is None:
            return None
        parent, job_id = event.trace_context, event.order_key
        span = self._facts.span("publish event", kind="producer", parent=parent, job_id=job_id)
        return spans.enter_context(span).traceparent

    async def _leads(self) -> bool:
        """Whether this relay is the one; the lease is renewed once half of it is gone."""
        now = self._clock.now()
        if (self._leads_until - now).total_seconds() > LEASE / 2:
            return True
        leads = await self._outbox.lead(self._owner, lease_for=LEASE)
        if leads:
            self._leads_until = now + timedelta(seconds=LEASE)
        return leads


def _message(event: OutboxEvent, trace_context: str | None) -> Message:
    return Message(
        message_id=str(event.event_id),
        body=event.body,
        order_key=event.order_key,
        content_type=CONTENT_TYPE,
        trace_context=trace_context,
    )
