"""Keeping a claim from poll to poll, and when the holder of a claim works on its job. Pure.

While a job is claimed, its row's ``due_at`` lies one lease beyond the moment at which its holder works on it: it falls
due to everybody once that holder is silent.
"""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec

from fluxx.model.deadlines import Limits
from fluxx.model.job import Job

LONGEST: Final = timedelta(seconds=15)
"""A job that waits for longer goes back, to be claimed by anybody: claims are rare then, and memory isn't free."""


class Keep(msgspec.Struct, frozen=True):
    """How a job is kept: under ``token``, until ``lease`` after it is due.

    No claim ever had that token: whoever renews many claims at once would take the job for another one's otherwise.
    """

    token: UUID
    lease: timedelta


def stay(due_at: datetime, now: datetime, keep: Keep | None) -> tuple[datetime, UUID | None]:
    """Return the row's due time and claim token of a job that is due at ``due_at``."""
    if keep is None or due_at - now > LONGEST:
        return due_at, None
    return due_at + keep.lease, keep.token


def begins_at(job: Job, limits: Limits) -> datetime | None:
    """Return when the job is worked on next, or since when it is (or its claim was renewed); None for a final one."""
    if job.due_at is None or job.claim_token is None:
        return job.due_at
    return job.due_at - timedelta(seconds=limits.lease)
