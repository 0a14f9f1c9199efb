"""What kind of trouble a reason tells of, and what an operator can do about it. Pure.

The reasons are written by ``transitions`` and ``extraction``; here their fixed words are recognised, so
that failures can be counted by kind and explained. A reason that nobody knows is ``OTHER``.
"""

import re
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
TOO_LARGE: Final = Kind("too large", "Allow more with MAX_INLINE_RESULT_BYTES or MAX_RESULT_BYTES, then retry.")
AWAY: Final = Kind("a part of ours is away", "See /readyz: the vault, the storage or the database can't be reached.")
OTHER: Final = Kind("other", "The reason above says it all; the log has the details.")

BEGINNINGS: Final = {
    "Cancelled": CANCELLED,
    "Gave up at the deadline": DEADLINE,
    "Still not ready after": POLLS,
    "The extractor rejected the API key": KEY,
    "No API key": KEY,
    "The extractor's address may not be called": ADDRESS,
    "Extractor reported": REPORTED,
    "The extractor refused": REFUSED,
    "The extractor redirected": REFUSED,
    "No answer from the extractor": NO_ANSWER,
    "The extractor could not": BUSY,
    "The extractor does not know the job": UNKNOWN,
    "The extractor sent": UNREADABLE,
    "The extractor said": UNREADABLE,
    "Something that this service stands on is away": AWAY,
}
"""How the reasons of each kind begin; what extractors and operators made up comes later in them."""


_OVERSIZED: Final = re.compile(r"\S+ answered with (?:more than|headers beyond)")


def kind_of(reason: str | None) -> Kind:
    """Return the kind of trouble that ``reason`` tells of."""
    text = reason or ""
    if _OVERSIZED.match(text):
        return TOO_LARGE
    return next((kind for beginning, kind in BEGINNINGS.items() if text.startswith(beginning)), OTHER)
