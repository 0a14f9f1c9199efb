"""Requests and answers beside the messages: tokens at $cbs, peeks, locks and schedules at $management."""

from collections.abc import Callable
from itertools import islice
from typing import Any

from servers.servicebus.broker import Broker, Refused
from servers.servicebus.codec import Timestamp
from servers.servicebus.messages import BusMessage, answer, notes, parse, render

LOCK_LOST = "com.microsoft:message-lock-lost"
_CBS_STATUS = ("status-code", "status-description")
_MANAGEMENT_STATUS = ("statusCode", "statusDescription")
_STATUS_OF = {"amqp:not-found": 404, LOCK_LOST: 410}

Body = dict[str, Any]


def token_answer(broker: Broker, request: BusMessage) -> bytes:
    """Take a token; every token is fine, unless a test refuses it."""
    code, said = 202, "Accepted"
    if broker.faults.refused_tokens:
        broker.faults.refused_tokens -= 1
        code, said = 401, "InvalidSignature: The token has an invalid signature."
    return answer(to=request.message_id, status=_CBS_STATUS, code=code, said=said)


def management_answer(broker: Broker, address: str, request: BusMessage) -> bytes:
    """Do what is asked of the entity at ``address``."""
    operation = str(request.application["operation"]).removeprefix("com.microsoft:")
    try:
        code, value = _OPERATIONS[operation](broker, address, request.value)
    except Refused as refusal:
        return answer(
            to=request.message_id,
            status=_MANAGEMENT_STATUS,
            code=_STATUS_OF.get(refusal.condition, 500),
            said=refusal.description,
            errorCondition=refusal.condition,
        )
    return answer(to=request.message_id, status=_MANAGEMENT_STATUS, code=code, said="OK", value=value)


def _peek(broker: Broker, address: str, body: Body) -> tuple[int, Body | None]:
    entries = broker.queue(address).peek(body["from-sequence-number"])
    found = [
        {
            "message": render(
                entry.message,
                failures=entry.failures,
                annotations=notes(sequence=entry.sequence, enqueued_at=entry.enqueued_at),
            )
        }
        for entry in islice(entries, body["message-count"])
    ]
    return (200, {"messages": found}) if found else (204, None)


def _renew(broker: Broker, address: str, body: Body) -> tuple[int, Body]:
    queue = broker.queue(address)
    ends = [queue.renew(lock, broker.now()) for lock in body["lock-tokens"]]
    if None in ends:
        raise Refused(LOCK_LOST, "The lock supplied is invalid.")
    return 200, {"expirations": [Timestamp(end * 1000) for end in ends if end is not None]}


def _settle(broker: Broker, address: str, body: Body) -> tuple[int, Body]:
    queue, now = broker.queue(address), broker.now()
    settle: dict[str, Callable[[Any], bool]] = {
        "completed": queue.complete,
        "abandoned": lambda lock: queue.release(lock, failed=True, now=now),
        "suspended": lambda lock: queue.bury(
            lock, reason=body["deadletter-reason"], description=body["deadletter-description"], now=now
        ),
    }
    held = [settle[body["disposition-status"]](lock) for lock in body["lock-tokens"]]
    if not all(held):
        raise Refused(LOCK_LOST, "The lock supplied is invalid.")
    return 200, {}


def _schedule(broker: Broker, address: str, body: Body) -> tuple[int, Body]:
    topic = broker.topic(address)
    sequences = [topic.publish(parse(item["message"]), broker.now()) for item in body["messages"]]
    return 200, {"sequence-numbers": sequences}


def _cancel(broker: Broker, address: str, body: Body) -> tuple[int, Body]:
    for queue in broker.topic(address).subscriptions.values():
        for sequence in body["sequence-numbers"]:
            queue.cancel(sequence)
    return 200, {}


_OPERATIONS: dict[str, Callable[[Broker, str, Body], tuple[int, Body | None]]] = {
    "peek-message": _peek,
    "renew-lock": _renew,
    "update-disposition": _settle,
    "schedule-message": _schedule,
    "cancel-scheduled-message": _cancel,
}
