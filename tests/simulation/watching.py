"""The bus, the outbox and the jobs, watched: what is sent off is kept, and nothing is asked in vain.

Three of four questions to the database would find nothing, and each costs a thousand times what it takes
to see that. A question that would find something, or fail, is the real one.
"""

import asyncio
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from fluxx.adapters.sql.bus import LOOK_EVERY
from fluxx.clock import Clock
from fluxx.ports.bus import Bus, Delivery, Message, Recorded, Subscription
from fluxx.ports.jobs import Due, JobStore
from fluxx.ports.outbox import Outbox, OutboxEvent
from simulation.machine import SeededMachine

INBOX: Final = """
SELECT 1 FROM "BusMessage" WHERE "Topic" = 'accepted-file' AND "DeadLetterReason" IS NULL LIMIT 1
"""
OUTBOX: Final = 'SELECT 1 FROM "Outbox" WHERE "PublishedAt" IS NULL LIMIT 1'
FIRST_DUE: Final = 'SELECT min("DueAt") FROM "Job" WHERE "DueAt" IS NOT NULL'


class Watch:
    """Looks past the adapters into the database."""

    def __init__(self, rows: sqlite3.Connection, machine: SeededMachine) -> None:
        self._rows = rows
        self._machine = machine

    def would_fail(self) -> bool:
        """Whether the real question is to be asked for its error."""
        return "database" in self._machine.away

    def finds(self, question: str) -> bool:
        """Whether there is something to be had."""
        return self.would_fail() or self._rows.execute(question).fetchone() is not None

    def first_due(self) -> datetime | None:
        """Return when the first job falls due."""
        (moment,) = self._rows.execute(FIRST_DUE).fetchone()
        return datetime.fromisoformat(moment) if moment else None


class WatchedBus:
    """Keeps the ids of all events sent off: many a broker doesn't recognise what comes twice."""

    def __init__(self, bus: Bus, watch: Watch, sent: list[UUID]) -> None:
        self.check = bus.check
        self.close = bus.close
        self._bus = bus
        self._watch = watch
        self._sent = sent

    async def publish(self, topic: str, messages: Sequence[Message]) -> None:
        """See ``Publisher.publish``."""
        await self._bus.publish(topic, messages)
        if topic == "job-status":
            self._sent.extend(UUID(message.message_id) for message in messages)

    def subscription(self, topic: str, name: str) -> "WatchedSubscription":
        """See ``Bus.subscription``."""
        return WatchedSubscription(self._bus.subscription(topic, name), self._watch)


class WatchedSubscription:
    """The subscription of ``TOPIC_ACCEPTED_FILE``."""

    def __init__(self, subscription: Subscription, watch: Watch) -> None:
        self.complete = subscription.complete
        self.abandon = subscription.abandon
        self.dead_letter = subscription.dead_letter
        self._subscription = subscription
        self._watch = watch

    async def receive(self, *, limit: int, wait: float) -> Sequence[Delivery]:
        """See ``Subscription.receive``."""
        if self._watch.finds(INBOX):
            return await self._subscription.receive(limit=limit, wait=wait)
        await asyncio.sleep(min(wait, LOOK_EVERY))
        return []

    async def browse(self, *, after: int = 0, limit: int = 100, dead: bool = False) -> Sequence[Recorded]:
        """See ``Subscription.browse``."""
        return await self._subscription.browse(after=after, limit=limit, dead=dead)


class WatchedOutbox:
    """The outbox."""

    def __init__(self, outbox: Outbox, watch: Watch) -> None:
        self.lead = outbox.lead
        self.mark_published = outbox.mark_published
        self._outbox = outbox
        self._watch = watch

    async def unpublished(self, *, limit: int) -> Sequence[OutboxEvent]:
        """See ``Outbox.unpublished``."""
        return await self._outbox.unpublished(limit=limit) if self._watch.finds(OUTBOX) else []


class WatchedJobs:
    """The jobs' writer."""

    def __init__(self, jobs: JobStore, watch: Watch, clock: Clock) -> None:
        self.accept = jobs.accept
        self.seize = jobs.seize
        self.renew = jobs.renew
        self.release = jobs.release
        self.apply = jobs.apply
        self._jobs = jobs
        self._watch = watch
        self._clock = clock

    async def claim(
        self, *, lease: float, limit: int, without: frozenset[UUID] = frozenset(), ahead: float = 0.0
    ) -> Due:
        """See ``JobStore.claim``."""
        first = self._watch.first_due()
        if self._watch.would_fail() or (first is not None and first <= self._clock.now()):
            return await self._jobs.claim(lease=lease, limit=limit, without=without, ahead=ahead)
        return Due((), first)
