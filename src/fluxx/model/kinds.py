"""What kind of trouble a reason tells of, and what an operator can do about it. Pure.

The reasons are written by ``transitions`` and ``extraction``; here their fixed words are recognised, so
that failures can be counted by kind and explained. A reason that nobody knows is ``OTHER``.
"""

from typing import Final

import msgspec


class Kind(msgspec.Struct, frozen=True):
    """A kind of trouble: its ``name`` in lists, and ``advice`` in whole sentences."""

    name: str
    advice: str


CANCELLED: Final = Kind("cancelled", "Retry the job if it is wanted after all.")
DEADLINE: Final = Kind(
    "gave up at the deadline",
    "See whether the extractor is slow or stuck; give jobs more time with JOB_TIMEOUT_SECONDS, then retry.",
)
POLLS: Final = Kind(
    "never ready", "See whether the extractor is stuck; allow more polls with MAX_POLL_ATTEMPTS, then retry."
)
KEY: Final = Kind("API key", "Set the extractor's API key (page Extractors, or fluxx key set), then retry.")
ADDRESS: Final = Kind(
    "address not allowed",
    "Correct the extractor's URL (where the extractor named the address itself, ask who runs it), or list its network"
    " in EGRESS_ALLOWED_NETWORKS, then retry.",
)
REPORTED: Final = Kind(
    "the extractor's verdict", "The extractor could not work on this file: look at the file, then ask who runs it."
)
FILE_REFUSED: Final = Kind(
    "file refused",
    "The extractor takes no such file: look at the file. If nothing is wrong with it, compare the extractor's URL and"
    " its documentation with the answer above.",
)
REFUSED: Final = Kind(
    "refused", "The extractor takes no such request: compare its URL and its documentation with the answer above."
)
NO_ANSWER: Final = Kind("no answer", "See whether the extractor is up and reachable from here, then retry.")
BUSY: Final = Kind("overloaded or broken", "See whether the extractor is healthy again, then retry.")
UNKNOWN: Final = Kind(
    "job unknown to it",
    "The extractor forgot the job, or polls go to another place: compare its polling URL, then retry.",
)
UNREADABLE: Final = Kind(
    "unreadable answer", "The extractor doesn't keep to the contract: show the answer to who runs it."
)
NO_LONGER_THERE: Final = Kind(
    "result no longer there",
    "The URL that the extractor named for its result gives nothing: ask who runs it to keep results, or to sign their"
    " URLs, for longer; then retry.",
)
TOO_LARGE: Final = Kind("too large", "Allow more with MAX_INLINE_RESULT_BYTES or MAX_RESULT_BYTES, then retry.")
AWAY: Final = Kind(
    "this service can't go on",
    "The trouble is here, not with the file or the extractor: see what it says above, and /readyz. The job goes on by"
    " itself once that is mended.",
)
GONE: Final = Kind("something is gone", "See who deleted it; if the file is gone, hand it in again.")
INTERNAL: Final = Kind("internal error", "It is a fault of this service: report it with the traceback in its log.")
OTHER: Final = Kind("other", "The reason above says it all; the log has the details.")

BEGINNINGS: Final = {
    "Cancelled": CANCELLED,
    "Gave up at the deadline": DEADLINE,
    "Still not ready after": POLLS,
    "The extractor rejected the API key": KEY,
    "The extractor can't be called without its API key": KEY,
    "The extractor's address may not be called": ADDRESS,
    "Extractor reported": REPORTED,
    "The extractor refused the file": FILE_REFUSED,
    "The extractor refused": REFUSED,
    "The extractor redirected": REFUSED,
    "No answer from the extractor": NO_ANSWER,
    "The extractor could not": BUSY,
    "The extractor does not know the job": UNKNOWN,
    "The extractor sent": UNREADABLE,
    "The extractor said": UNREADABLE,
    "The extractor did not give the whole result": UNREADABLE,
    "The extractor gave a resultUrl that is no URL": UNREADABLE,
    "The extractor no longer gives the result": NO_LONGER_THERE,
    "The result wasn't downloaded to its end": DEADLINE,
    "The answer is too large": TOO_LARGE,
    "This service can't go on just now": AWAY,
    "Something that the job needs is gone": GONE,
    "Internal error": INTERNAL,
}
"""How the reasons of each kind begin, of two the longer one first; what others made up comes later in them."""


def kind_of(reason: str | None) -> Kind:
    """Return the kind of trouble that ``reason`` tells of."""
    text = reason or ""
    return next((kind for beginning, kind in BEGINNINGS.items() if text.startswith(beginning)), OTHER)
