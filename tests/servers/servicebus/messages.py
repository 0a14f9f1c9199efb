"""AMQP messages (OASIS AMQP 1.0, part 3) as a broker sees them: sections to read, a body to leave alone."""

from typing import Any
from uuid import UUID

import msgspec

from servers.servicebus.codec import Described, Int, Symbol, Timestamp, UInt, ULong, decode, encode

BATCH_FORMAT = 0x80013700
HEADER, ANNOTATIONS, PROPERTIES, APPLICATION, DATA, VALUE = 0x70, 0x72, 0x73, 0x74, 0x75, 0x77
_MESSAGE_ID, _CORRELATION_ID, _GROUP_ID = 0, 5, 10


class BusMessage(msgspec.Struct, kw_only=True):
    """A message at rest. ``body`` keeps its sections as the sender encoded them."""

    annotations: dict[Any, Any]
    properties: list[Any]
    application: dict[str, Any]
    body: bytes

    @property
    def message_id(self) -> Any:
        return _at(self.properties, _MESSAGE_ID)

    @property
    def session_id(self) -> str | None:
        return _at(self.properties, _GROUP_ID)

    @property
    def scheduled_at(self) -> float:
        """Seconds since 1970; 0 where it is not to wait."""
        return self.annotations.get("x-opt-scheduled-enqueue-time", 0) / 1000

    @property
    def value(self) -> Any:
        """The body of a request to $cbs or $management."""
        return decode(self.body)[0].value


def _at(fields: list[Any], index: int) -> Any:
    return fields[index] if len(fields) > index else None


def parse(data: bytes) -> BusMessage:
    """Read a message, leaving its body as it is."""
    sections: dict[int, Any] = {}
    at = 0
    while at < len(data):
        section, end = decode(data, at)
        if section.descriptor in (DATA, VALUE, DATA + 1):
            break
        sections[section.descriptor] = section.value
        at = end
    return BusMessage(
        annotations=sections.get(ANNOTATIONS) or {},
        properties=sections.get(PROPERTIES) or [],
        application=sections.get(APPLICATION) or {},
        body=data[at:],
    )


def parse_batch(data: bytes) -> list[BusMessage]:
    """Read a batch: a message whose data sections are messages."""
    messages, at = [], 0
    while at < len(data):
        section, at = decode(data, at)
        if section.descriptor == DATA:
            messages.append(parse(section.value))
    return messages


def render(message: BusMessage, *, failures: int, annotations: dict[str, Any]) -> bytes:
    """Return the message for a receiver; ``failures`` counts deliveries that came to nothing."""
    noted = {**message.annotations, **{Symbol(key): value for key, value in annotations.items()}}
    sections = [
        Described(ULong(HEADER), [None, None, None, None, UInt(failures)]),
        Described(ULong(ANNOTATIONS), noted),
        Described(ULong(PROPERTIES), message.properties),
        Described(ULong(APPLICATION), message.application),
    ]
    return b"".join(map(encode, sections)) + message.body


def notes(*, sequence: int, enqueued_at: float, locked_until: float | None = None) -> dict[str, Any]:
    """Return the annotations that a broker adds to a message it hands out."""
    noted: dict[str, Any] = {
        "x-opt-sequence-number": sequence,
        "x-opt-enqueued-time": Timestamp(enqueued_at * 1000),
    }
    if locked_until is not None:
        noted["x-opt-locked-until"] = Timestamp(locked_until * 1000)
    return noted


def answer(*, to: UUID | str, status: tuple[str, str], code: int, said: str, value: Any = None, **more: str) -> bytes:
    """Return the answer to a request; ``status`` names the fields for ``code`` and ``said``."""
    properties: list[Any] = [None] * _CORRELATION_ID + [to]
    application = {status[0]: Int(code), status[1]: said, **more}
    sections = [
        Described(ULong(PROPERTIES), properties),
        Described(ULong(APPLICATION), application),
        Described(ULong(VALUE), value),
    ]
    return b"".join(map(encode, sections))
