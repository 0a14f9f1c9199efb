"""A subscription's messages: waiting, locked, dead. No I/O; the time is handed in (seconds since 1970)."""

from bisect import insort
from collections.abc import Iterator
from typing import Protocol
from uuid import UUID, uuid4

import msgspec

from servers.servicebus.messages import BusMessage

REASON, DESCRIPTION = "DeadLetterReason", "DeadLetterErrorDescription"


class Entry(msgspec.Struct, kw_only=True, eq=False):
    """A message in one queue. ``failures`` counts the deliveries that came to nothing."""

    message: BusMessage
    sequence: int
    enqueued_at: float
    failures: int = 0
    lock: UUID | None = None
    locked_until: float = 0.0


class Consumer(Protocol):
    """Somebody who wants messages."""

    def wants(self) -> bool:
        """Say whether one more is asked for."""
        ...

    def take(self, entry: Entry) -> None:
        """Receive a locked message."""
        ...


class Queue:
    """Messages of one subscription in order of arrival, or its dead letters.

    ``lost_completions`` is a fault: so many messages come again although they were completed.
    """

    def __init__(self, *, lock_seconds: float, max_deliveries: int, dead: "Queue | None") -> None:
        self.lock_seconds = lock_seconds
        self.dead = dead
        self.lost_completions = 0
        self._max_deliveries = max_deliveries
        self._entries: dict[int, Entry] = {}
        self._ready: list[int] = []
        self._scheduled: list[tuple[float, int]] = []
        self._locks: dict[UUID, Entry] = {}
        self._consumers: list[Consumer] = []

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def locked(self) -> int:
        """How many messages somebody holds."""
        return len(self._locks)

    def add(self, message: BusMessage, *, sequence: int, now: float) -> None:
        """Take a message in; it becomes available at its scheduled time, or now."""
        at = max(now, message.scheduled_at)
        self._entries[sequence] = Entry(message=message, sequence=sequence, enqueued_at=at)
        if at > now:
            insort(self._scheduled, (at, sequence))
        else:
            insort(self._ready, sequence)
            self._hand_out(now)

    def cancel(self, sequence: int) -> None:
        """Forget a scheduled message."""
        self._scheduled = [place for place in self._scheduled if place[1] != sequence]
        self._entries.pop(sequence, None)

    def join(self, consumer: Consumer, now: float) -> None:
        """Let a consumer have messages from now on."""
        self._consumers.append(consumer)
        self._hand_out(now)

    def leave(self, consumer: Consumer) -> None:
        """Stop handing messages to a consumer; what it holds stays locked."""
        self._consumers = [other for other in self._consumers if other is not consumer]

    def wake(self, now: float) -> None:
        """Hand out what can be: a consumer wants more, or time has passed."""
        while self._scheduled and self._scheduled[0][0] <= now:
            insort(self._ready, self._scheduled.pop(0)[1])
        for entry in [entry for entry in self._locks.values() if entry.locked_until <= now]:
            self._give_back(entry, failed=True, now=now)
        self._hand_out(now)

    def complete(self, lock: UUID) -> bool:
        """Remove a message; False where the lock is lost, as in all of these."""
        entry = self._locks.get(lock)
        if entry is None:
            return False
        if self.lost_completions:
            self.lost_completions -= 1
            self._give_back(entry, failed=True, now=entry.enqueued_at)
            return True
        self._remove(entry)
        return True

    def release(self, lock: UUID, *, failed: bool, now: float) -> bool:
        """Give a message back, abandoned (``failed``) or never looked at."""
        entry = self._locks.get(lock)
        if entry is not None:
            self._give_back(entry, failed=failed, now=now)
            self._hand_out(now)
        return entry is not None

    def bury(self, lock: UUID, *, reason: str, description: str, now: float) -> bool:
        """Move a message to the dead letters."""
        entry = self._locks.get(lock)
        if entry is not None:
            self._bury(entry, reason, description, now)
        return entry is not None

    def renew(self, lock: UUID, now: float) -> float | None:
        """Let a lock last for its full time again; return its new end."""
        entry = self._locks.get(lock)
        if entry is None:
            return None
        entry.locked_until = now + self.lock_seconds
        return entry.locked_until

    def peek(self, sequence: int) -> Iterator[Entry]:
        """Yield messages from ``sequence`` on, whatever their state."""
        return (self._entries[at] for at in sorted(self._entries) if at >= sequence)

    def lose_locks(self, now: float) -> None:
        """Forget every lock, as a broker does that fails over."""
        for entry in list(self._locks.values()):
            self._give_back(entry, failed=True, now=now)
        self._hand_out(now)

    def _hand_out(self, now: float) -> None:
        while self._ready and (consumer := self._next_consumer()):
            entry = self._entries[self._ready.pop(0)]
            entry.lock = uuid4()
            entry.locked_until = now + self.lock_seconds
            self._locks[entry.lock] = entry
            consumer.take(entry)

    def _next_consumer(self) -> Consumer | None:
        for index, consumer in enumerate(self._consumers):
            if consumer.wants():
                self._consumers.append(self._consumers.pop(index))
                return consumer
        return None

    def _give_back(self, entry: Entry, *, failed: bool, now: float) -> None:
        entry.failures += failed
        if entry.failures >= self._max_deliveries and self.dead is not None:
            said = f"Message could not be consumed after {entry.failures} delivery attempts."
            self._bury(entry, "MaxDeliveryCountExceeded", said, now)
            return
        self._unlock(entry)
        insort(self._ready, entry.sequence)

    def _bury(self, entry: Entry, reason: str, description: str, now: float) -> None:
        self._remove(entry)
        if self.dead is not None:
            said = {**entry.message.application, REASON: reason, DESCRIPTION: description}
            buried = msgspec.structs.replace(entry.message, application=said)
            self.dead.add(buried, sequence=entry.sequence, now=now)

    def _remove(self, entry: Entry) -> None:
        self._unlock(entry)
        del self._entries[entry.sequence]

    def _unlock(self, entry: Entry) -> None:
        if entry.lock is not None:
            self._locks.pop(entry.lock, None)
            entry.lock = None


class Topic:
    """A topic: what is published goes to each subscription, under one growing sequence."""

    def __init__(self, *, drop_duplicates: bool) -> None:
        self.subscriptions: dict[str, Queue] = {}
        self._drop_duplicates = drop_duplicates
        self._known: set[object] = set()
        self._sequence = 0

    def subscribe(self, name: str, *, lock_seconds: float, max_deliveries: int) -> None:
        """Add a subscription; it gets what is published from now on."""
        dead = Queue(lock_seconds=lock_seconds, max_deliveries=max_deliveries, dead=None)
        queue = Queue(lock_seconds=lock_seconds, max_deliveries=max_deliveries, dead=dead)
        self.subscriptions[name.lower()] = queue

    def publish(self, message: BusMessage, now: float) -> int:
        """Give a message to every subscription; return its sequence number."""
        if self._drop_duplicates and message.message_id in self._known:
            return self._sequence
        self._known.add(message.message_id)
        self._sequence += 1
        for queue in self.subscriptions.values():
            queue.add(message, sequence=self._sequence, now=now)
        return self._sequence
