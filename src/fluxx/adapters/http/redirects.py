"""Redirects, followed by us: seldom, checked at each hop, and never with what belongs to somebody else."""

from typing import Final

from fluxx import __version__
from fluxx.adapters.http.decoding import ACCEPTED
from fluxx.adapters.http.target import Target
from fluxx.errors import EgressRefused, SecretMissing
from fluxx.ports.extractor import Call
from fluxx.ports.secrets import ApiKey

MAX_REDIRECTS: Final = 3

_FOLLOWED: Final = frozenset({301, 302, 303, 307, 308})
_HARMLESS: Final = frozenset({"accept"})
"""Headers of a call that another origin may see."""


def next_target(call: Call, target: Target, *, status: int, location: str | None) -> Target | None:
    """Return where an answer sends the call; None where it is the answer.

    Only a GET is followed: a submission is never sent again to an address that the answer names.
    Raises ``EgressRefused`` for a redirect from https to http.
    """
    if call.method != "GET" or status not in _FOLLOWED or not location:
        return None
    further = target.redirected(location)
    if target.scheme == "https" and further.scheme == "http":
        raise EgressRefused(f"{target} redirected from https to http.")
    return further


def headers_for(call: Call, *, at_home: bool) -> dict[str, str]:
    """Return the headers to send; ``at_home`` says that the call never left the origin of its URL.

    Raises ``SecretMissing`` for an API key that no header can carry.
    """
    headers = {"User-Agent": f"fluxx/{__version__}", "Accept-Encoding": ACCEPTED}
    if not at_home:
        return headers | {name: value for name, value in call.headers.items() if name.lower() in _HARMLESS}
    headers |= call.headers
    if call.api_key is not None:
        headers["Authorization"] = f"Bearer {_sendable(call.api_key)}"
    return headers


def _sendable(key: ApiKey) -> str:
    text = key.reveal()
    if not (text.isascii() and text.isprintable()):
        raise SecretMissing("The stored API key holds characters that an HTTP header can't carry.")
    return text
