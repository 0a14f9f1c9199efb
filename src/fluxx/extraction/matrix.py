"""The answer matrix as data: what each status means at each step. Pure.

``answers`` acts by it; ``docs/extractor-contract.md`` is drawn from it (``matrix_page``).
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final

import msgspec


class Meaning(Enum):
    """What a status says; the value is the wording in the docs.

    ``TAKEN`` needs nothing of the body and believes none that can't be read; ``MOVED`` is left where a
    redirect may not be followed.
    """

    READ = "the body decides"
    TAKEN = "submitted"
    KNOWN = "submitted already"
    WHOLE = "the body is the result"
    KEY = "a changed key is tried, else the job fails"
    LATER = "tried again"
    UNKNOWN = "tried again soon after the submission, else the job fails"
    PARTIAL = "tried again: not the whole result"
    EXPIRED = "tried again: a poll brings a fresh URL"
    UNFIT = "the job fails: it is the file"
    MOVED = "not followed: the job fails"
    NEVER = "the job fails"


class Step(msgspec.Struct, frozen=True):
    """One kind of call: its name in reasons, and what each status means for it.

    A key of ``statuses`` below 10 stands for its whole class: 5 for every 5xx without a row.
    """

    name: str
    statuses: Mapping[int, Meaning]

    def meaning(self, status: int) -> Meaning:
        """Return what ``status`` means; what is no HTTP status at all is tried again."""
        return self.statuses.get(status) or self.statuses.get(status // 100, Meaning.LATER)


_COMMON: Final = {
    2: Meaning.READ,
    3: Meaning.MOVED,
    4: Meaning.NEVER,
    5: Meaning.LATER,
    401: Meaning.KEY,
    403: Meaning.KEY,
    408: Meaning.LATER,
    425: Meaning.LATER,
    429: Meaning.LATER,
}
SUBMISSION: Final = Step(
    "submission",
    _COMMON | {201: Meaning.TAKEN, 409: Meaning.KNOWN} | dict.fromkeys((400, 413, 415, 422), Meaning.UNFIT),
)
POLL: Final = Step("poll", _COMMON | {404: Meaning.UNKNOWN})
DOWNLOAD: Final = Step(
    "result download",
    _COMMON
    | {2: Meaning.WHOLE}
    | dict.fromkeys((202, 204, 205, 206), Meaning.PARTIAL)
    # 400 and 401 too: object stores answer so where a signed URL's time or token has run out.
    | dict.fromkeys((400, 401, 403, 404, 410), Meaning.EXPIRED),
)
STEPS: Final = (SUBMISSION, POLL, DOWNLOAD)
