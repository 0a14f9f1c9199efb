"""What is counted of jobs, per extractor and minute, so that nobody ever counts the jobs themselves.

``change_of`` says what one transition adds; the store writes the sums beside the transitions, and
everything that shows a number (page, metrics, ``fluxx top``) adds those up. Pure.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Final, Self

import msgspec

from fluxx.model.job import Job, Status

BOUNDS: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0)
"""Upper bounds (seconds) of the classes that times to a result fall into; a last class has none."""

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

    def time_to_result(self, share: float) -> float | None:
        """Return the seconds within which ``share`` of the results came, as well as the classes tell it.

        Within a class times are taken for evenly spread; None where there was no result.
        """
        if not self.succeeded or not any(self.times):
            return None
        wanted = share * sum(self.times)
        ends = list(accumulate(self.times))
        place = next(place for place, end in enumerate(ends) if end >= wanted and end)
        low = BOUNDS[place - 1] if place else 0.0
        high = BOUNDS[place] if place < len(BOUNDS) else 2 * BOUNDS[-1]
        before = ends[place] - self.times[place]
        return low + (high - low) * max(wanted - before, 0.0) / self.times[place]


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
