"""What is counted of jobs, per extractor and minute, so that nobody ever counts the jobs themselves.

``change_of`` says what one transition adds; the store writes the sums beside the transitions, and
everything that shows a number (page, metrics, ``fluxx top``) adds those up. Pure.
"""

from collections.abc import Sequence
from itertools import accumulate
from math import inf
from typing import Final, Self

import msgspec

from fluxx.model.job import Job, Status

BOUNDS: Final = (0.5, 1.5, 3.0, 7.0, 15.0, 30.0, 50.0, 80.0, 120.0, 180.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0)
"""Upper bounds (seconds) of the classes that times to a result fall into; a last class has none.

A result comes a moment after a poll, so the times of many jobs crowd there. With the default settings the first polls
are made about 5, 12, 23, 39, 63, 99, 153 and 210 seconds after the job was queued, and an extractor that names its own
wait mostly names whole seconds: bounds lie between all these, so that each crowd falls into one class as a whole.
"""

NO_TIMES: Final = (0,) * (len(BOUNDS) + 1)


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """How often something happened to jobs.

    ``queued``, ``started``, ``succeeded`` and ``failed`` count arrivals in a state; ``unstarted`` are
    those of the failed that no extractor ever took. ``polls`` were answered, ``retries`` are errors
    after which the job goes on. ``milliseconds`` sums the times from queued to the result, and
    ``times`` tells how many of them fell into each class of ``BOUNDS``.
    """

    queued: int = 0
    started: int = 0
    succeeded: int = 0
    failed: int = 0
    unstarted: int = 0
    polls: int = 0
    retries: int = 0
    milliseconds: int = 0
    times: tuple[int, ...] = NO_TIMES

    def __add__(self, other: Self) -> "Counts":
        """Return the sums."""
        return Counts(
            queued=self.queued + other.queued,
            started=self.started + other.started,
            succeeded=self.succeeded + other.succeeded,
            failed=self.failed + other.failed,
            unstarted=self.unstarted + other.unstarted,
            polls=self.polls + other.polls,
            retries=self.retries + other.retries,
            milliseconds=self.milliseconds + other.milliseconds,
            times=tuple(map(sum, zip(self.times, other.times, strict=True))),
        )

    @property
    def waiting(self) -> int:
        """Jobs that are Queued now; only the counts since the beginning tell."""
        return max(self.queued - self.started - self.unstarted, 0)

    @property
    def working(self) -> int:
        """Jobs that are Started now; only the counts since the beginning tell."""
        return max(self.started - self.succeeded - (self.failed - self.unstarted), 0)

    @property
    def finished(self) -> int:
        """Jobs that came to an end."""
        return self.succeeded + self.failed

    @property
    def success_rate(self) -> float | None:
        """The share of the finished that succeeded; None where nothing finished."""
        return self.succeeded / self.finished if self.finished else None

    def longest_time_to_result(self, share: float) -> float | None:
        """Return the seconds within which ``share`` of the results came at the latest: the bound of a class.

        Where in its class a time lies, nobody knows. ``inf`` for the last class; None where there was no result.
        """
        ends = list(accumulate(self.times))
        if not ends[-1]:
            return None
        place = next(place for place, end in enumerate(ends) if end and end >= share * ends[-1])
        return BOUNDS[place] if place < len(BOUNDS) else inf


def total(counts: Sequence[Counts]) -> Counts:
    """Return the sum of all."""
    return sum(counts, start=Counts())


def change_of(before: Job | None, after: Job) -> dict[str, int]:
    """Return what a transition adds: columns of ``Counts`` by name, a class of ``times`` as ``times3``."""
    if before is None:
        return {"queued": 1}
    added: dict[str, int] = {}
    if polls := after.poll_attempt_count - before.poll_attempt_count:
        added["polls"] = polls
    if before.status is Status.QUEUED and after.status in (Status.STARTED, Status.SUCCEEDED):
        added["started"] = 1
    match after.status:
        case Status.SUCCEEDED:
            taken = (after.updated_at - after.created_at).total_seconds()
            place = next((place for place, bound in enumerate(BOUNDS) if taken <= bound), len(BOUNDS))
            added |= {"succeeded": 1, "milliseconds": round(1000 * taken), f"times{place}": 1}
        case Status.FAILED:
            added["failed"] = 1
            if before.status is Status.QUEUED:
                added["unstarted"] = 1
        case same if same is before.status and not polls:
            added["retries"] = 1
    return added
