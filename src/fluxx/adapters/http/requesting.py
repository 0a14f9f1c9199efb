"""A call as the bytes of an HTTP/1.1 request (RFC 9112): nothing in it can end a line but we."""

from typing import Final

from fluxx import __version__
from fluxx.adapters.http.decoding import ACCEPTED
from fluxx.adapters.http.target import Target
from fluxx.errors import EgressRefused, SecretMissing
from fluxx.ports.extractor import Call
from fluxx.ports.secrets import ApiKey

_ALWAYS: Final = f"User-Agent: fluxx/{__version__}\r\nAccept-Encoding: {ACCEPTED}\r\n"
_HARMLESS: Final = frozenset({"accept"})
"""Headers of a call that another origin may see."""
_OURS: Final = frozenset(
    {
        *("authorization", "host", "user-agent", "accept-encoding"),
        *("connection", "content-length", "expect", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"),
    }
)
"""Headers that are written here or nowhere: they say where a request ends and what may be answered."""
_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})
"""Methods that announce a body even if it is empty (RFC 9110, section 8.6)."""


def request(call: Call, target: Target, *, at_home: bool) -> bytes:
    """Return the request; ``at_home`` says that the call never left the origin of its URL.

    Raises ``SecretMissing`` for an API key and ``EgressRefused`` for another header that HTTP
    can't carry; neither shows it.
    """
    body = call.body or b""
    head = f"{call.method} {target.path}{target.query} HTTP/1.1\r\nHost: {target.origin.authority}\r\n{_ALWAYS}"
    for name, value in call.headers.items():
        if at_home or name.lower() in _HARMLESS:
            head += _line(name, value)
    if call.api_key is not None and at_home:
        head += f"Authorization: Bearer {_sendable(call.api_key)}\r\n"
    if body or call.method in _WITH_BODY:
        head += f"Content-Length: {len(body)}\r\n"
    return f"{head}\r\n".encode("ascii") + body


def _line(name: str, value: str) -> str:
    line = f"{name}: {value}"
    # A name of letters, digits and hyphens is stricter than RFC 9110 needs, and enough.
    if not (line.isascii() and line.isprintable() and name.replace("-", "").isalnum()) or name.lower() in _OURS:
        raise EgressRefused("The call has a header that can't be sent.")
    return f"{line}\r\n"


def _sendable(key: ApiKey) -> str:
    text = key.reveal()
    if not (text.isascii() and text.isprintable()):
        raise SecretMissing("The stored API key holds characters that an HTTP header can't carry.")
    return text
