"""Redirects, followed by us: seldom, checked at each hop, and never with what belongs to somebody else."""

from typing import Final

from fluxx.adapters.http.target import Target
from fluxx.errors import EgressRefused
from fluxx.ports.extractor import Call

MAX_REDIRECTS: Final = 3

_FOLLOWED: Final = frozenset({301, 302, 303, 307, 308})


def next_target(call: Call, target: Target, *, status: int, location: str | None) -> Target | None:
    """Return where an answer sends the call; None where it is the answer.

    Only a GET is followed: a submission is never sent again to an address that the answer names.
    Raises ``EgressRefused`` for a redirect from https to http.
    """
    if call.method != "GET" or status not in _FOLLOWED or not location:
        return None
    further = target.redirected(location)
    if target.origin.scheme == "https" and further.origin.scheme == "http":
        raise EgressRefused(f"{further} is http, no longer https.")
    return further
