"""AMQP 1.0 frames (OASIS AMQP 1.0, part 2) and the few SASL ones (part 5)."""

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from servers.servicebus.codec import Described, Symbol, UInt, ULong, decode, encode

AMQP_HEADER = b"AMQP\x00\x01\x00\x00"
SASL_HEADER = b"AMQP\x03\x01\x00\x00"
HEADERS = (AMQP_HEADER, SASL_HEADER)


class Open(NamedTuple):
    container_id: str
    hostname: str | None = None
    max_frame_size: int | None = None
    channel_max: int | None = None
    idle_timeout: int | None = None
    outgoing_locales: Any = None
    incoming_locales: Any = None
    offered_capabilities: Any = None
    desired_capabilities: Any = None
    properties: Any = None


class Begin(NamedTuple):
    remote_channel: int | None
    next_outgoing_id: int
    incoming_window: int
    outgoing_window: int
    handle_max: int | None = None
    offered_capabilities: Any = None
    desired_capabilities: Any = None
    properties: Any = None


class Attach(NamedTuple):
    name: str
    handle: int
    role: bool
    snd_settle_mode: int | None = None
    rcv_settle_mode: int | None = None
    source: Any = None
    target: Any = None
    unsettled: Any = None
    incomplete_unsettled: bool | None = None
    initial_delivery_count: int | None = None
    max_message_size: int | None = None
    offered_capabilities: Any = None
    desired_capabilities: Any = None
    properties: Any = None


class Flow(NamedTuple):
    next_incoming_id: int | None
    incoming_window: int
    next_outgoing_id: int
    outgoing_window: int
    handle: int | None = None
    delivery_count: int | None = None
    link_credit: int | None = None
    available: int | None = None
    drain: bool | None = None
    echo: bool | None = None
    properties: Any = None


class Transfer(NamedTuple):
    handle: int
    delivery_id: int | None = None
    delivery_tag: bytes | None = None
    message_format: int | None = None
    settled: bool | None = None
    more: bool | None = None
    rcv_settle_mode: int | None = None
    state: Any = None
    resume: bool | None = None
    aborted: bool | None = None
    batchable: bool | None = None


class Disposition(NamedTuple):
    role: bool
    first: int
    last: int | None = None
    settled: bool | None = None
    state: Any = None
    batchable: bool | None = None


class Detach(NamedTuple):
    handle: int
    closed: bool | None = None
    error: Any = None


class End(NamedTuple):
    error: Any = None


class Close(NamedTuple):
    error: Any = None


class SaslMechanisms(NamedTuple):
    mechanisms: list[Symbol]


class SaslInit(NamedTuple):
    mechanism: Symbol
    initial_response: bytes | None = None
    hostname: str | None = None


class SaslOutcome(NamedTuple):
    code: int
    additional_data: bytes | None = None


Performative = Any  # one of the classes above

_CODES: dict[type, int] = {
    Open: 0x10,
    Begin: 0x11,
    Attach: 0x12,
    Flow: 0x13,
    Transfer: 0x14,
    Disposition: 0x15,
    Detach: 0x16,
    End: 0x17,
    Close: 0x18,
    SaslMechanisms: 0x40,
    SaslInit: 0x41,
    SaslOutcome: 0x44,
}
_CLASSES = {code: form for form, code in _CODES.items()}
_SASL_CODES = 0x40


class Frame(NamedTuple):
    """A frame as it arrived; ``performative`` is None in an empty one, which only says "I live"."""

    channel: int
    performative: Performative | None
    payload: bytes


def pack(channel: int, performative: Performative, payload: bytes = b"") -> bytes:
    """Return the bytes of one frame; a plain ``int`` goes out as a uint, which most fields are."""
    code = _CODES[type(performative)]
    fields = [UInt(field) if type(field) is int else field for field in performative]
    body = encode(Described(ULong(code), fields)) + payload
    return struct.pack(">IBBH", len(body) + 8, 2, code >= _SASL_CODES, channel) + body


def unpack(buffer: bytearray) -> Iterator[Frame | bytes]:
    """Take whole frames, and protocol headers as bytes, off the front of ``buffer``."""
    while len(buffer) >= 8:
        if buffer[:4] == b"AMQP":
            yield bytes(buffer[:8])
            del buffer[:8]
            continue
        size, offset, _, channel = struct.unpack_from(">IBBH", buffer)
        if len(buffer) < size:
            return
        data = bytes(buffer[4 * offset : size])
        del buffer[:size]
        yield _frame(channel, data)


def _frame(channel: int, data: bytes) -> Frame:
    if not data:
        return Frame(channel, None, b"")
    described, end = decode(data)
    return Frame(channel, _CLASSES[described.descriptor](*described.value), data[end:])
