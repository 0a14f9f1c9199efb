"""The dispatcher: claims due jobs, runs one step for each, and hands the outcome to be finished.

It holds what is in flight, keeps every extractor to its share, renews the claims of long steps and
drains. Nothing lives here alone: a worker that dies lets its jobs fall due again.

Jobs and extractors are found by the number that their id is: a UUID is hashed and compared by Python code, which for
each poll was run twelve times here.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from operator import attrgetter
from typing import Final
from uuid import UUID

import msgspec

from fluxx.clock import Clock
from fluxx.extraction.finish import Finish
from fluxx.model.job import Job
from fluxx.ports.jobs import Claim, Due, JobStore
from fluxx.telemetry import CLAIM_LOST, JOBS_CLAIMED, LATENESS_SECONDS, Facts

IDLE_REST: Final = 0.5
"""Seconds between looks for due jobs; this process's own news wakes the dispatcher at once."""

AHEAD: Final = 0.1
"""Seconds before a job falls due from which on it is claimed, to be worked on when it is due.

So claims can be few and large, because a transaction costs as much as ten jobs in it, and no poll is late for it.
"""

GATHER_REST: Final = 0.04
"""Seconds from one claim to the next under load: well below ``AHEAD``."""

TICK: Final = 0.005
"""Seconds between starts of jobs that were claimed ahead: a timer for each would cost more than it is worth."""

ANSWER_PATIENCE: Final = 1.0
"""Seconds that work without a claim gets to end by itself: the answer to its last write may be on its way."""


class Capacity(msgspec.Struct, frozen=True, kw_only=True):
    """How much one worker takes on: ``jobs`` at the same time, of which ``share`` for one extractor.

    ``lease`` is how long (seconds) a claimed job stays with a silent worker.
    """

    jobs: int
    share: int
    lease: float


class _Taken(msgspec.Struct, frozen=True):
    due_at: datetime
    job: Job
    claim: Claim


class _Running(msgspec.Struct, frozen=True):
    job: Job
    claim: Claim
    task: "asyncio.Task[datetime | None]"


class Dispatcher:
    """Two steps for two loops: ``claim`` and ``renew``; ``drain`` ends what is in flight.

    ``wake`` ends the claiming loop's rest.
    """

    def __init__(
        self,
        *,
        store: JobStore,
        finish: Finish,
        capacity: Capacity,
        clock: Clock,
        facts: Facts,
        wake: Callable[[], None],
    ) -> None:
        self._store = store
        self._finish = finish
        self._capacity = capacity
        self._clock = clock
        self._facts = facts
        self._wake = wake
        self._patience = min(ANSWER_PATIENCE, capacity.lease / 6)
        self._looks_at = clock.now()
        self._running: dict[int, _Running] = {}
        self._ahead: list[_Taken] = []
        self._next_start: asyncio.TimerHandle | None = None
        self._by_extractor: Counter[int] = Counter()
        self._freed = asyncio.Event()

    async def claim(self) -> float:
        """Fill the free slots with due jobs; return the seconds to rest."""
        limit, full = self._room()
        if limit == 0:
            await self._slot()
            return GATHER_REST
        began = self._clock.now()
        due = await self._store.claim(lease=self._capacity.lease, limit=limit, without=full, ahead=AHEAD)
        self._take(due.jobs)
        now = self._clock.now()
        rest = max(GATHER_REST - (now - began).total_seconds(), 0.0) if due.jobs else self._rest(due)
        self._looks_at = now + timedelta(seconds=rest)
        return rest

    def _room(self) -> tuple[int, frozenset[UUID]]:
        """Return how many jobs may be claimed, and the extractors whose share is used up.

        The least share left bounds the claim, so that no extractor can get more than its own.
        """
        share = self._capacity.share
        full = frozenset(UUID(int=extractor) for extractor, count in self._by_extractor.items() if count >= share)
        left = min((share - count for count in self._by_extractor.values() if count < share), default=share)
        return min(self._capacity.jobs - len(self._running) - len(self._ahead), left), full

    async def _slot(self) -> None:
        """Wait for a slot to fall free; not for ever, because the loop may have been told to stop."""
        self._freed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(IDLE_REST):
                await self._freed.wait()

    def _take(self, jobs: Sequence[Job]) -> None:
        if not jobs:
            return
        self._facts.tell(JOBS_CLAIMED, count=len(jobs))
        for job in jobs:
            if job.due_at is not None and job.claim_token is not None:
                self._ahead.append(_Taken(job.due_at, job, Claim(job.job_id, job.claim_token)))
                self._by_extractor[job.client_application_extractor_id.int] += 1
        self._ahead.sort(key=attrgetter("due_at"), reverse=True)
        self._start_due()

    def _start_due(self) -> None:
        """Start what has fallen due of the jobs at hand, and see to the others when they do."""
        now = self._clock.now()
        while self._ahead and self._ahead[-1].due_at <= now:
            self._start(self._ahead.pop(), now)
        if self._next_start is not None:
            self._next_start.cancel()
            self._next_start = None
        if self._ahead:
            wait = (self._ahead[-1].due_at - now).total_seconds()
            self._next_start = asyncio.get_running_loop().call_later(max(wait, TICK), self._start_due)

    def _start(self, taken: _Taken, now: datetime) -> None:
        job = taken.job
        self._facts.observe(LATENESS_SECONDS, (now - taken.due_at).total_seconds())
        before = self._running.get(job.job_id.int)
        work = self._finish_after(before, job) if before else self._finish(job)
        task = asyncio.get_running_loop().create_task(work)  # asyncio's own function is a layer of Python more
        self._running[job.job_id.int] = _Running(job, taken.claim, task)
        task.add_done_callback(partial(self._ended, job))

    async def _finish_after(self, before: _Running, job: Job) -> datetime | None:
        """Work on a job that fell due while it was still held here, under a claim that is no more.

        Mostly its last write is done and only not answered yet. Else that work is worth nothing any more.
        """
        try:
            await asyncio.wait([before.task], timeout=self._patience)
        finally:
            if before.task.cancel():
                self._facts.tell(CLAIM_LOST, job_id=job.job_id)
        await asyncio.wait([before.task])
        return await self._finish(job)

    def _ended(self, job: Job, task: "asyncio.Task[datetime | None]") -> None:
        running = self._running.get(job.job_id.int)
        if running is not None and running.task is task:
            del self._running[job.job_id.int]
        extractor = job.client_application_extractor_id.int
        if left := self._by_extractor[extractor] - 1:
            self._by_extractor[extractor] = left
        else:
            del self._by_extractor[extractor]
        self._freed.set()
        if not task.cancelled():
            self._look_by(task.result())

    def _look_by(self, due_at: datetime | None) -> None:
        """See to it that the next look comes no later than a job of ours falls due."""
        if due_at is not None and (claim_at := due_at - timedelta(seconds=AHEAD)) < self._looks_at:
            self._looks_at = claim_at
            wait = (claim_at - self._clock.now()).total_seconds()
            asyncio.get_running_loop().call_later(max(wait, GATHER_REST), self._wake)

    def _rest(self, due: Due) -> float:
        if due.next_due_at is None:
            return IDLE_REST
        wait = (due.next_due_at - self._clock.now()).total_seconds() - AHEAD
        return min(max(wait, GATHER_REST), IDLE_REST)

    async def renew(self) -> float:
        """Renew the claims of what is in flight; drop the work whose claim is lost."""
        held = [running.claim for running in self._running.values()]
        if held:
            kept = set(await self._store.renew(held, lease=self._capacity.lease))
            await self._drop([claim for claim in held if claim not in kept])
        return self._capacity.lease / 3

    async def _drop(self, claims: Sequence[Claim]) -> None:
        lost = [self._running[claim.job_id.int] for claim in claims if claim.job_id.int in self._running]
        if not lost:
            return
        # What was just written has no claim any more either, and is about to be told: that isn't lost.
        await asyncio.wait([running.task for running in lost], timeout=self._patience)
        for running in lost:
            if running.claim in claims and running.task.cancel():
                self._facts.tell(CLAIM_LOST, job_id=running.job.job_id)

    async def drain(self, *, patience: float) -> None:
        """Wait ``patience`` seconds for what is in flight, then give the rest back to be claimed.

        What was claimed ahead falls due in a moment, and is in flight then.
        """
        if self._ahead:
            await asyncio.sleep(AHEAD + TICK)
        left = list(self._running.values())
        if not left:
            return
        await asyncio.wait([running.task for running in left], timeout=patience)
        late = [running for running in left if not running.task.done()]
        for running in late:
            running.task.cancel()
        if late:
            await asyncio.wait([running.task for running in late])
            await self._store.release([running.claim for running in late])
