"""Messages as Service Bus has them, and as the port has them. Used by the bus and its subscriptions."""

from datetime import UTC, datetime
from typing import Final

from azure.servicebus import ServiceBusMessage, ServiceBusReceivedMessage
from azure.servicebus.amqp import AmqpMessageBodyType

from fluxx.ports.bus import Delivery, Message, Recorded

TRACE: Final = "traceparent"
"""Application property for the trace context, the one that Microsoft's clients read too."""

UNKNOWN_TYPE: Final = "application/octet-stream"


def outgoing(message: Message) -> ServiceBusMessage:
    """Return the message to send.

    The order key goes out as session id. Subscriptions with sessions then keep each key's order
    even among competing consumers; those without ignore it and keep the order of arrival.
    """
    return ServiceBusMessage(
        message.body,
        message_id=message.message_id,
        session_id=message.order_key,
        content_type=message.content_type,
        application_properties={TRACE: message.trace_context} if message.trace_context else None,
    )


def incoming(received: ServiceBusReceivedMessage) -> Message:
    """Return what was received; a message without an id, as others may send it, goes by its sequence number."""
    return Message(
        message_id=_text(received.message_id) or str(received.sequence_number),
        body=_body(received),
        order_key=_text(received.session_id),
        content_type=_text(received.content_type) or UNKNOWN_TYPE,
        trace_context=_property(received, TRACE),
    )


def delivery(received: ServiceBusReceivedMessage) -> Delivery:
    """Return a message held under lock. Service Bus counts the deliveries that came before this one."""
    return Delivery(message=incoming(received), lock=received, delivery_count=(received.delivery_count or 0) + 1)


def recorded(peeked: ServiceBusReceivedMessage) -> Recorded:
    """Return a message seen by peeking."""
    return Recorded(
        message=incoming(peeked),
        sequence=peeked.sequence_number or 0,
        enqueued_at=peeked.enqueued_time_utc or datetime.fromtimestamp(0, UTC),
        dead_letter_reason=_property(peeked, "DeadLetterReason"),
        dead_letter_description=_property(peeked, "DeadLetterErrorDescription"),
    )


def _body(received: ServiceBusReceivedMessage) -> bytes:
    body = received.body
    if received.body_type is AmqpMessageBodyType.DATA:
        return body if isinstance(body, bytes) else b"".join(body)
    return body if isinstance(body, bytes) else str(body).encode()


def _property(received: ServiceBusReceivedMessage, name: str) -> str | None:
    return _text((received.application_properties or {}).get(name.encode()))


def _text(value: object) -> str | None:
    """Return a text that others set: whatever they wrote, receiving must not fail by it, or it would fail for ever."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return None if value is None else str(value)
