"""Remembers jobs by their id, and the finished ones only for a while. Used by both backends."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

J = TypeVar("J")


class Keeping(Generic[J]):
    """Live jobs, and finished ones for at most ``seconds`` and at most ``count`` of them.

    ``now`` is a clock in seconds that never goes back; ``forget`` is called for each job that is let go.
    """

    def __init__(self, *, seconds: float, count: int, now: Callable[[], float], forget: Callable[[J], None]) -> None:
        self._seconds = seconds
        self._count = count
        self._now = now
        self._forget = forget
        self._live: dict[str, J] = {}
        self._finished: OrderedDict[str, tuple[float, J]] = OrderedDict()

    @property
    def live_count(self) -> int:
        """How many jobs are not finished."""
        return len(self._live)

    def add(self, job_id: str, job: J) -> None:
        """Remember a new job."""
        self._live[job_id] = job

    def get(self, job_id: str) -> J | None:
        """Return the job, or None for one that is unknown or let go."""
        self._sweep()
        finished = self._finished.get(job_id)
        return finished[1] if finished else self._live.get(job_id)

    def finish(self, job_id: str) -> None:
        """Let the job's last while begin; once for each job."""
        self._finished[job_id] = (self._now() + self._seconds, self._live.pop(job_id))
        self._sweep()

    def clear(self) -> list[J]:
        """Let go of the finished jobs, and return the live ones as no longer known."""
        while self._finished:
            self._forget(self._finished.popitem(last=False)[1][1])
        live = list(self._live.values())
        self._live.clear()
        return live

    def _sweep(self) -> None:
        while self._finished:
            until, job = next(iter(self._finished.values()))
            if until > self._now() and len(self._finished) <= self._count:
                return
            self._finished.popitem(last=False)
            self._forget(job)
