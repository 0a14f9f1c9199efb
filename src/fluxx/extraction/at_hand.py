"""The jobs at hand: claimed a moment ahead, or kept since their last poll, until they are due.

Nothing lives here alone: each is under its claim, which ends some time after the job was due.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Final, TypeAlias

from fluxx.clock import Clock
from fluxx.model.job import Job

TICK: Final = 0.005
"""Seconds between starts of jobs at hand: a timer for each would cost more than it is worth."""


Begin: TypeAlias = Callable[[Job, datetime, bool, datetime], None]
"""What is done with a job that is due: the job, when it was due, whether it was kept, and the time."""


class AtHand:
    """Hands each job to ``begin`` when it is due."""

    def __init__(self, begin: Begin, *, clock: Clock) -> None:
        self._begin = begin
        self._clock = clock
        self._waiting: list[tuple[datetime, int, Job, bool]] = []
        self._numbers = count()
        self._next: asyncio.TimerHandle | None = None

    def add(self, job: Job, due_at: datetime, *, kept: bool) -> None:
        """Let a job wait until it is due."""
        heappush(self._waiting, (due_at, next(self._numbers), job, kept))
        if self._waiting[0][2] is job:
            self._see_to_the_first(self._clock.now())

    def begin_due(self) -> None:
        """Begin what has fallen due."""
        now = self._clock.now()
        while self._waiting and self._waiting[0][0] <= now:
            due_at, _, job, kept = heappop(self._waiting)
            self._begin(job, due_at, kept, now)
        self._see_to_the_first(now)

    def let_go(self) -> Sequence[Job]:
        """Return the jobs that are kept, and wait for them no longer."""
        gone = [job for _, _, job, kept in self._waiting if kept]
        self._waiting = [place for place in self._waiting if not place[3]]
        heapify(self._waiting)
        return gone

    def _see_to_the_first(self, now: datetime) -> None:
        if self._next is not None:
            self._next.cancel()
            self._next = None
        if self._waiting:
            wait = (self._waiting[0][0] - now).total_seconds()
            self._next = asyncio.get_running_loop().call_later(max(wait, TICK), self.begin_due)
