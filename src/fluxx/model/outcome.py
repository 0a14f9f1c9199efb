"""What a step can come back with: a closed set, and nothing else ever changes a job.

``submit``, ``poll`` and ``collect`` talk to the world and return one of these;
``transitions.apply`` says what it means for the job.
"""

from typing import TypeAlias

import msgspec


class Submitted(msgspec.Struct, frozen=True):
    """The extractor took the job. ``poll_after`` (seconds) is its own wish, if it gave one."""

    message: str
    poll_after: float | None = None


class NotReady(msgspec.Struct, frozen=True):
    """The extractor answered a poll: not yet. ``poll_after`` as above."""

    poll_after: float | None = None


class Extracted(msgspec.Struct, frozen=True):
    """The result is stored and readable at ``path``: ``size`` bytes with this ``sha256`` (hex).

    ``polled`` tells a result that a poll brought from one that came with the submit answer.
    """

    path: str
    size: int
    sha256: str
    polled: bool = True


class Retry(msgspec.Struct, frozen=True):
    """It didn't work now and may work later.

    ``after`` (seconds) is the other side's wish (``Retry-After``). ``counted`` is False where the
    fault is ours (vault, blob store or database away): such a wait ends only with the deadline.
    """

    reason: str
    after: float | None = None
    counted: bool = True


class Refused(msgspec.Struct, frozen=True):
    """It will never work: the job fails with this reason."""

    reason: str


Outcome: TypeAlias = Submitted | NotReady | Extracted | Retry | Refused
