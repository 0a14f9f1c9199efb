"""AMQP 1.0 values on the wire (OASIS AMQP 1.0, part 1): Python values to bytes and back.

Python has one ``int`` and one ``str`` where AMQP has many types, so the ones that matter here have
a small subclass of their own, kept through decoding and encoding.
"""

import struct
from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import UUID


class Symbol(str):
    """A symbolic name: keys of annotations, conditions of errors."""

    __slots__ = ()


class UByte(int):
    """8 bits, unsigned."""


class UShort(int):
    """16 bits, unsigned."""


class UInt(int):
    """32 bits, unsigned."""


class ULong(int):
    """64 bits, unsigned."""


class Int(int):
    """32 bits, signed; a plain ``int`` is 64 bits, signed."""


class Timestamp(int):
    """Milliseconds since 1970."""


class Described(NamedTuple):
    """A value with its meaning, as nearly everything is in the protocol."""

    descriptor: Any
    value: Any


def encode(value: Any) -> bytes:
    """Return the bytes of one value."""
    return _ENCODERS[type(value)](value)


def decode(data: bytes, at: int = 0) -> tuple[Any, int]:
    """Return the value that begins at ``at``, and where the next one begins."""
    return _DECODERS[data[at]](data, at + 1)


def _sized(short: int, long: int, content: bytes) -> bytes:
    size = len(content)
    return bytes((short, size)) + content if size < 256 else struct.pack(">BI", long, size) + content


def _compound(long: int, count: int, content: bytes) -> bytes:
    return struct.pack(">BII", long, len(content) + 4, count) + content


def _encode_map(value: dict[Any, Any]) -> bytes:
    return _compound(0xD1, 2 * len(value), b"".join(encode(part) for pair in value.items() for part in pair))


def _encode_array(value: list[Any]) -> bytes:
    return _compound(0xD0, len(value), b"".join(map(encode, value)))


_ENCODERS: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda _: b"\x40",
    bool: lambda value: b"\x41" if value else b"\x42",
    UByte: lambda value: struct.pack(">BB", 0x50, value),
    UShort: lambda value: struct.pack(">BH", 0x60, value),
    UInt: lambda value: struct.pack(">BI", 0x70, value),
    ULong: lambda value: struct.pack(">BQ", 0x80, value) if value > 255 else struct.pack(">BB", 0x53, value),
    Int: lambda value: struct.pack(">Bi", 0x71, value),
    int: lambda value: struct.pack(">Bq", 0x81, value),
    float: lambda value: struct.pack(">Bd", 0x82, value),
    Timestamp: lambda value: struct.pack(">Bq", 0x83, value),
    UUID: lambda value: b"\x98" + value.bytes,
    bytes: lambda value: _sized(0xA0, 0xB0, value),
    str: lambda value: _sized(0xA1, 0xB1, value.encode()),
    Symbol: lambda value: _sized(0xA3, 0xB3, value.encode()),
    list: _encode_array,
    dict: _encode_map,
    Described: lambda value: b"\x00" + encode(value.descriptor) + encode(value.value),
}

Decoder = Callable[[bytes, int], tuple[Any, int]]


def _constant(value: Any) -> Decoder:
    return lambda _, at: (value, at)


def _number(form: str, wrap: Callable[[Any], Any] = int) -> Decoder:
    layout = struct.Struct(">" + form)
    return lambda data, at: (wrap(layout.unpack_from(data, at)[0]), at + layout.size)


def _text(form: str, wrap: Callable[[bytes], Any]) -> Decoder:
    layout = struct.Struct(">" + form)

    def read(data: bytes, at: int) -> tuple[Any, int]:
        start = at + layout.size
        end = start + layout.unpack_from(data, at)[0]
        return wrap(data[start:end]), end

    return read


def _many(form: str, wrap: Callable[[list[Any]], Any]) -> Decoder:
    layout = struct.Struct(f">{form}{form}")

    def read(data: bytes, at: int) -> tuple[Any, int]:
        count = layout.unpack_from(data, at)[1]
        at += layout.size
        items = []
        for _ in range(count):
            item, at = _DECODERS[data[at]](data, at + 1)
            items.append(item)
        return wrap(items), at

    return read


def _array(form: str) -> Decoder:
    layout = struct.Struct(f">{form}{form}B")

    def read(data: bytes, at: int) -> tuple[Any, int]:
        _, count, kind = layout.unpack_from(data, at)
        at += layout.size
        items = []
        for _ in range(count):
            item, at = _DECODERS[kind](data, at)
            items.append(item)
        return items, at

    return read


def _described(data: bytes, at: int) -> tuple[Described, int]:
    descriptor, at = decode(data, at)
    value, at = decode(data, at)
    return Described(descriptor, value), at


def _pairs(items: list[Any]) -> dict[Any, Any]:
    return dict(zip(items[::2], items[1::2], strict=True))


_DECODERS: dict[int, Decoder] = {
    0x00: _described,
    0x40: _constant(None),
    0x41: _constant(value=True),
    0x42: _constant(value=False),
    0x43: _constant(UInt(0)),
    0x44: _constant(ULong(0)),
    0x45: lambda _, at: ([], at),
    0x50: _number("B", UByte),
    0x51: _number("b"),
    0x52: _number("B", UInt),
    0x53: _number("B", ULong),
    0x54: _number("b", Int),
    0x55: _number("b"),
    0x56: _number("?", bool),
    0x60: _number("H", UShort),
    0x61: _number("h"),
    0x70: _number("I", UInt),
    0x71: _number("i", Int),
    0x72: _number("f", float),
    0x80: _number("Q", ULong),
    0x81: _number("q"),
    0x82: _number("d", float),
    0x83: _number("q", Timestamp),
    0x98: lambda data, at: (UUID(bytes=data[at : at + 16]), at + 16),
    0xA0: _text("B", bytes),
    0xA1: _text("B", bytes.decode),
    0xA3: _text("B", lambda raw: Symbol(raw.decode())),
    0xB0: _text("I", bytes),
    0xB1: _text("I", bytes.decode),
    0xB3: _text("I", lambda raw: Symbol(raw.decode())),
    0xC0: _many("B", list),
    0xC1: _many("B", _pairs),
    0xD0: _many("I", list),
    0xD1: _many("I", _pairs),
    0xE0: _array("B"),
    0xF0: _array("I"),
}
