"""The body of an extractor's answer: an object of the contract, or why it isn't one. Pure.

Called by ``answers``. The fields stay raw: an inline result keeps its bytes to the last digit and blank,
and a field of an odd type spoils nothing but itself.
"""

import json
import re
from typing import Any, Final

import msgspec
from msgspec import Raw

_BOM: Final = b"\xef\xbb\xbf"
_OTHER_ENCODINGS: Final = ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"), (b"\x00", "UTF-16 or UTF-32"))
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_NOTHING: Final = frozenset({b"", b"null"})


class Content(msgspec.Struct, frozen=True, rename="camel"):
    """The fields that the contract knows, as sent. Of a key that comes twice, the last one counts."""

    is_ready: Raw = Raw(b"")
    result: Raw = Raw(b"")
    result_url: Raw = Raw(b"")
    error: Raw = Raw(b"")
    retry_after: Raw = Raw(b"")


class Unreadable(msgspec.Struct, frozen=True):
    """A body that is no such object: ``reason`` says why; ``final`` where it would never be read."""

    reason: str
    final: bool = False


EMPTY: Final = Unreadable("empty")

_decoder: Final = msgspec.json.Decoder(Content)


def read(body: bytes) -> Content | Unreadable:
    """Return the contract's fields in ``body``: strict JSON in UTF-8, with or without a byte order mark."""
    body = body.removeprefix(_BOM)
    try:
        # msgspec passes over the strings of a raw value without looking at their encoding.
        if not body.isascii():
            body.decode()
        return _decoder.decode(body)
    except UnicodeDecodeError as error:
        return Unreadable(_encoding(body, error))
    except msgspec.ValidationError:
        return Unreadable("JSON, but not an object")
    except msgspec.DecodeError as error:
        return Unreadable(_malformed(body, error)) if body.strip() else EMPTY
    except RecursionError:
        return Unreadable("JSON nested too deeply to be read", final=True)


def present(field: Raw) -> bool:
    """Whether a field is there and not null: many serialisers write null for what they don't have."""
    return bytes(field) not in _NOTHING


def value(field: Raw) -> Any:
    """Return a small field decoded; None where it is absent, null, or a number beyond all bounds."""
    try:
        return msgspec.json.decode(field) if bytes(field) else None
    except (msgspec.DecodeError, RecursionError):
        return None


def _encoding(body: bytes, error: UnicodeDecodeError) -> str:
    name = next((name for mark, name in _OTHER_ENCODINGS if body.startswith(mark)), None)
    return f"{name}, not UTF-8" if name else f"not UTF-8 (byte {error.start})"


def _malformed(body: bytes, error: msgspec.DecodeError) -> str:
    if body.lstrip().startswith(b"<"):
        return "HTML or XML, not JSON"
    if b"\x00" in body[:4]:
        return "UTF-16 or UTF-32, not UTF-8"
    if _is_half(body):
        return "JSON with half of a surrogate pair in it, which is no character"
    return f"not valid JSON ({error})"


def _is_half(body: bytes) -> bool:
    """Whether this is JSON but for the escape of half a pair: its grammar allows that, I-JSON forbids it (RFC 7493)."""
    if _SURROGATE.search(body) is None:
        return False
    try:
        json.dumps(json.loads(body), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    except (ValueError, RecursionError):
        return False
    return False
