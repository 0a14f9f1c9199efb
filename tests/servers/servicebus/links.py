"""The two ends of a link: an inlet takes what a client sends, an outlet hands messages to a client."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

from servers.servicebus.broker import Refused
from servers.servicebus.codec import Described, Symbol, ULong
from servers.servicebus.frames import Attach, Disposition, Flow, Transfer
from servers.servicebus.messages import notes, render
from servers.servicebus.queues import DESCRIPTION, REASON, Entry, Queue
from servers.servicebus.requests import LOCK_LOST

CREDIT = 1000
WINDOW = 2**31 - 1
ACCEPTED, REJECTED, RELEASED, MODIFIED, ERROR = 0x24, 0x25, 0x26, 0x27, 0x1D
_SETTLED = 1  # the sender settle mode of receive-and-delete
_TRANSFER_BYTES = 128  # at most, for the fields of a transfer

Send = Callable[..., None]  # (performative, payload)


def error(refusal: Refused) -> Described:
    """Return a refusal as AMQP says it; clients want the map to have something in it."""
    said = {Symbol("com.microsoft:tracking-id"): "none"}
    return Described(ULong(ERROR), [Symbol(refusal.condition), refusal.description, said])


def outcome(code: int, *fields: Any) -> Described:
    """Return how a delivery ended."""
    return Described(ULong(code), list(fields))


class Inlet:
    """Takes transfers, which may come in pieces, and says how each ended."""

    def __init__(self, attach: Attach, send: Send, handle: Callable[[bytes, int], None]) -> None:
        self._attach = attach
        self._send = send
        self._handle = handle
        self._pieces = b""
        self._first: Transfer | None = None
        self._taken = 0

    def open(self) -> None:
        """Ask for messages."""
        self._send(
            Flow(0, WINDOW, 0, WINDOW, handle=self._attach.handle, delivery_count=self._taken, link_credit=CREDIT)
        )

    def transfer(self, transfer: Transfer, payload: bytes) -> None:
        """Take one piece; after the last one the message is handled and settled."""
        self._first = self._first or transfer
        self._pieces += payload
        if transfer.more:
            return
        first, content = self._first, self._pieces
        self._first, self._pieces = None, b""
        self._taken += 1
        try:
            self._handle(content, first.message_format or 0)
            ended = outcome(ACCEPTED)
        except Refused as refusal:
            ended = outcome(REJECTED, error(refusal))
        if not first.settled:
            self._send(Disposition(role=True, first=first.delivery_id or 0, settled=True, state=ended))
        if self._taken % (CREDIT // 2) == 0:
            self.open()


class Outlet:
    """Hands out messages as far as the client's credit goes, and settles them as it says.

    ``queue`` is None where the outlet carries answers to requests.
    """

    def __init__(
        self,
        attach: Attach,
        send: Send,
        *,
        queue: Queue | None,
        ids: Iterator[int],
        now: Callable[[], float],
        size: int,
    ) -> None:
        self._attach = attach
        self._send = send
        self._queue = queue
        self._ids = ids
        self._now = now
        self._piece = size - _TRANSFER_BYTES
        self._credit = 0
        self._sent = 0
        self._locks: dict[int, UUID] = {}
        self._answers: deque[bytes] = deque()

    def open(self) -> None:
        """Let messages come."""
        if self._queue is not None:
            self._queue.join(self, self._now())

    def wants(self) -> bool:
        """Say whether the client asked for one more."""
        return self._credit > 0

    def take(self, entry: Entry) -> None:
        """Hand a locked message to the client."""
        added = notes(sequence=entry.sequence, enqueued_at=entry.enqueued_at, locked_until=entry.locked_until)
        content = render(entry.message, failures=entry.failures, annotations=added)
        lock = entry.lock or UUID(int=0)
        settled = self._attach.snd_settle_mode == _SETTLED
        delivery_id = self._deliver(content, tag=lock.bytes_le, settled=settled)
        if settled and self._queue is not None:
            self._queue.complete(lock)
        else:
            self._locks[delivery_id] = lock

    def answer(self, content: bytes) -> None:
        """Hand over the answer to a request."""
        self._answers.append(content)
        self._flush()

    def flow(self, flow: Flow) -> None:
        """Take the client's credit; a drain uses it up."""
        self._credit = (flow.delivery_count or 0) + (flow.link_credit or 0) - self._sent
        self._flush()
        if self._queue is not None:
            self._queue.wake(self._now())
        if flow.drain:
            self._sent += self._credit
            self._credit = 0
        if flow.drain or flow.echo:
            self._send(
                Flow(
                    flow.next_outgoing_id,
                    WINDOW,
                    flow.next_incoming_id or 0,
                    WINDOW,
                    handle=self._attach.handle,
                    delivery_count=self._sent,
                    link_credit=self._credit,
                    drain=flow.drain,
                )
            )

    def disposition(self, disposition: Disposition) -> None:
        """Settle deliveries as the client says, and tell it how that went."""
        last = disposition.first if disposition.last is None else disposition.last
        for delivery_id in range(disposition.first, last + 1):
            lock = self._locks.pop(delivery_id, None)
            if lock is not None:
                ended = self._settle(lock, disposition.state)
                self._send(Disposition(role=False, first=delivery_id, settled=True, state=ended))

    def close(self) -> None:
        """Hand out nothing more."""
        if self._queue is not None:
            self._queue.leave(self)

    def _flush(self) -> None:
        while self._answers and self._credit > 0:
            self._deliver(self._answers.popleft(), tag=self._sent.to_bytes(4, "big"), settled=True)

    def _deliver(self, content: bytes, *, tag: bytes, settled: bool) -> int:
        delivery_id = next(self._ids)
        for at in range(0, len(content), self._piece):
            more = at + self._piece < len(content)
            fields = Transfer(self._attach.handle, delivery_id, tag, 0, settled=settled, more=more)
            self._send(fields, content[at : at + self._piece])
        self._credit -= 1
        self._sent += 1
        return delivery_id

    def _settle(self, lock: UUID, state: Described) -> Described:
        queue = self._queue
        if queue is None:
            return outcome(ACCEPTED)
        match int(state.descriptor):
            case 0x24:
                held = queue.complete(lock)
            case 0x25:
                said = state.value[0].value[2] or {} if state.value else {}
                reason, description = str(said.get(REASON)), str(said.get(DESCRIPTION))
                held = queue.bury(lock, reason=reason, description=description, now=self._now())
            case code:
                held = queue.release(lock, failed=code == MODIFIED, now=self._now())
        if not held:
            return outcome(REJECTED, error(Refused(LOCK_LOST, "The lock supplied is invalid.")))
        return outcome(int(state.descriptor), *(() if state.descriptor == REJECTED else state.value))
