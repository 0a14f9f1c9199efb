"""Jobs that wait in a worker's hands until they are due: claimed a moment ahead, or kept since their last poll.

Nothing lives here alone: each is under its claim, which ends some time after the job was due.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from heapq import heappop, heappush
from itertools import count
from typing import Final, TypeAlias
from uuid import UUID

from fluxx.clock import Clock
from fluxx.model.job import Job

TICK: Final = 0.005
"""Seconds between looks at what is due: a timer for each job would cost more than it is worth."""

PATIENCE: Final = timedelta(seconds=1)
"""How long a kept job that is due waits for a slot here, before any other worker may take it."""

Begin: TypeAlias = Callable[[Job, timedelta], None]
"""Begins with a job that is due, and has been for so long."""


class Waiting:
    """Hands each job to ``begin`` when it is due."""

    def __init__(self, begin: Begin, *, clock: Clock) -> None:
        self._begin = begin
        self._clock = clock
        self._jobs: list[tuple[datetime, int, Job]] = []
        self._numbers = count()
        self._next: asyncio.TimerHandle | None = None

    def add(self, job: Job, due_at: datetime) -> None:
        """Let a job wait until it is due."""
        heappush(self._jobs, (due_at, next(self._numbers), job))
        if self._jobs[0][2] is job:
            self._see_to_the_first(self._clock.now())

    def begin_due(self) -> None:
        """Begin with what has fallen due."""
        now = self._clock.now()
        while self._jobs and self._jobs[0][0] <= now:
            due_at, _, job = heappop(self._jobs)
            self._begin(job, now - due_at)
        self._see_to_the_first(now)

    def take_all(self) -> Sequence[Job]:
        """Return the jobs, and wait for them no longer."""
        jobs, self._jobs = self._jobs, []
        return [job for _, _, job in jobs]

    def _see_to_the_first(self, now: datetime) -> None:
        if self._next is not None:
            self._next.cancel()
            self._next = None
        if self._jobs:
            wait = (self._jobs[0][0] - now).total_seconds()
            self._next = asyncio.get_running_loop().call_later(max(wait, TICK), self.begin_due)


class Kept:
    """Jobs that are kept. One that is due begins if it ``may``, by its extractor; else it waits in turn for a while.

    What can't begin within ``PATIENCE`` is handed to ``give_back``. Extractors take turns.
    """

    def __init__(
        self, *, may: Callable[[UUID], bool], begin: Begin, give_back: Callable[[Job], None], clock: Clock
    ) -> None:
        self._may = may
        self._begin = begin
        self._give_back = give_back
        self._clock = clock
        self._waiting = Waiting(self._due, clock=clock)
        self._in_turn: dict[int, deque[tuple[datetime, timedelta, Job]]] = {}

    def add(self, job: Job, due_at: datetime) -> None:
        """Keep a job until it is due."""
        self._waiting.add(job, due_at)

    def take_all(self) -> Sequence[Job]:
        """Return the jobs, and keep them no longer."""
        in_turn, self._in_turn = self._in_turn, {}
        return [*self._waiting.take_all(), *(job for queue in in_turn.values() for _, _, job in queue)]

    def _due(self, job: Job, late: timedelta) -> None:
        extractor = job.client_application_extractor_id
        queue = self._in_turn.get(extractor.int)
        if queue is None and self._may(extractor):
            self._begin(job, late)
            return
        if not self._in_turn:
            asyncio.get_running_loop().call_later(TICK, self._take_turns)
        if queue is None:
            queue = self._in_turn[extractor.int] = deque()
        queue.append((self._clock.now(), late, job))

    def _take_turns(self) -> None:
        now = self._clock.now()
        going_on = True
        while going_on:
            going_on = False
            for queue in self._in_turn.values():
                if queue and self._may(queue[0][2].client_application_extractor_id):
                    since, late, job = queue.popleft()
                    self._begin(job, late + (now - since))
                    going_on = True
        for queue in self._in_turn.values():
            while queue and now - queue[0][0] > PATIENCE:
                self._give_back(queue.popleft()[2])
        self._in_turn = {extractor: queue for extractor, queue in self._in_turn.items() if queue}
        if self._in_turn:
            asyncio.get_running_loop().call_later(TICK, self._take_turns)
