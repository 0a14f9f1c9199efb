"""The dispatcher: claims due jobs, runs one step for each, and hands the outcome to be finished.

It holds what is in flight, keeps every extractor to its share, renews the claims of long steps and
drains. A job whose extractor isn't ready is kept: its claim goes on, and it is polled again without being claimed anew
(``model.keeping``). Nothing lives here alone: a worker that dies lets its jobs fall due again.

Jobs and extractors are found by the number that their id is: a UUID is hashed and compared by Python code, which for
each poll was run twelve times here.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from uuid import UUID

import msgspec

from fluxx.clock import Clock
from fluxx.errors import Unavailable
from fluxx.extraction.finish import Finish
from fluxx.extraction.waiting import TICK, Kept, Waiting
from fluxx.model.job import Job
from fluxx.ports.jobs import Claim, Due, JobStore
from fluxx.telemetry import CLAIM_LOST, JOBS_CLAIMED, JOBS_GIVEN_BACK, LATENESS_SECONDS, Facts

IDLE_REST: Final = 0.5
"""Seconds between looks for due jobs; this process's own news wakes the dispatcher at once."""

AHEAD: Final = 0.1
"""Seconds before a job falls due from which on it is claimed, to be worked on when it is due.

So claims can be few and large, because a transaction costs as much as ten jobs in it, and no poll is late for it.
"""

GATHER_REST: Final = 0.04
"""Seconds from one claim to the next under load: well below ``AHEAD``."""

FOR_KEPT: Final = 0.75
"""Share of the slots that kept jobs may take; the rest is for those that nobody has, new ones among them."""

ANSWER_PATIENCE: Final = 1.0
"""Seconds that work without a claim gets to end by itself: the answer to its last write may be on its way."""


class Capacity(msgspec.Struct, frozen=True, kw_only=True):
    """How much one worker takes on: ``jobs`` at the same time, of which ``share`` for one extractor.

    ``lease`` is how long (seconds) a claimed job stays with a silent worker.
    """

    jobs: int
    share: int
    lease: float


class _Running(msgspec.Struct, frozen=True):
    job: Job
    task: "asyncio.Task[Job | None]"


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
        self._lease = timedelta(seconds=capacity.lease)
        self._patience = min(ANSWER_PATIENCE, capacity.lease / 6)
        self._looks_at = clock.now()
        self._running: dict[int, _Running] = {}
        self._ahead = Waiting(self._start, clock=clock)
        self._kept = Kept(may=self._may_go_on, begin=self._go_on, give_back=self._unwant, clock=clock)
        self._held = 0
        self._by_extractor: Counter[int] = Counter()
        self._unwanted: list[Job] = []
        self._draining = False
        self._freed = asyncio.Event()

    async def claim(self) -> float:
        """Fill the free slots with due jobs; return the seconds to rest."""
        await self._give_back()
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
        return min(self._capacity.jobs - self._held, left), full

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
            if job.due_at is not None:
                self._hold(job)
                self._ahead.add(job, job.due_at)
        self._ahead.begin_due()

    def _hold(self, job: Job) -> None:
        self._held += 1
        self._by_extractor[job.client_application_extractor_id.int] += 1

    def _may_go_on(self, extractor: UUID) -> bool:
        busy = self._by_extractor[extractor.int]
        return self._held < FOR_KEPT * self._capacity.jobs and busy < FOR_KEPT * self._capacity.share

    def _go_on(self, job: Job, late: timedelta) -> None:
        """Begin with a job that was kept and is due."""
        if late > self._lease / 3:
            self._unwant(job)  # a claim about to end isn't worth a call
            return
        self._hold(job)
        self._start(job, late)

    def _unwant(self, job: Job) -> None:
        if not self._unwanted:
            asyncio.get_running_loop().call_later(GATHER_REST, self._wake)
        self._unwanted.append(job)

    async def _give_back(self) -> None:
        """Let jobs that were kept fall due to everybody, when they would have been due here."""
        if self._unwanted:
            unwanted, self._unwanted = self._unwanted, []
            self._facts.tell(JOBS_GIVEN_BACK, count=len(unwanted))
            due = [job.due_at - self._lease for job in unwanted if job.due_at is not None]
            with suppress(Unavailable):  # their claims end by themselves
                await self._store.release(dict(zip(_claims(unwanted), due, strict=True)))

    def _start(self, job: Job, late: timedelta) -> None:
        self._facts.observe(LATENESS_SECONDS, late.total_seconds())
        before = self._running.get(job.job_id.int)
        work = self._finish_after(before, job) if before else self._finish(job)
        task = asyncio.get_running_loop().create_task(work)  # asyncio's own function is a layer of Python more
        self._running[job.job_id.int] = _Running(job, task)
        task.add_done_callback(partial(self._ended, job))

    async def _finish_after(self, before: _Running, job: Job) -> Job | None:
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

    def _ended(self, job: Job, task: "asyncio.Task[Job | None]") -> None:
        running = self._running.get(job.job_id.int)
        if running is not None and running.task is task:
            del self._running[job.job_id.int]
        self._held -= 1
        extractor = job.client_application_extractor_id.int
        if left := self._by_extractor[extractor] - 1:
            self._by_extractor[extractor] = left
        else:
            del self._by_extractor[extractor]
        self._freed.set()
        if not task.cancelled() and (written := task.result()) is not None and written.due_at is not None:
            self._see_to(written, written.due_at)

    def _see_to(self, job: Job, until: datetime) -> None:
        """See to a job of ours that isn't at its end: it is kept, or falls due to everybody."""
        if job.claim_token is None:
            self._look_by(until)
            return
        if self._draining:
            self._unwanted.append(job)
        else:
            self._kept.add(job, until - self._lease)

    def _look_by(self, due_at: datetime) -> None:
        """See to it that the next look comes no later than a job of ours falls due."""
        if (claim_at := due_at - timedelta(seconds=AHEAD)) < self._looks_at:
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
        held = _claims([running.job for running in self._running.values()])
        if held:
            kept = set(await self._store.renew(held, lease=self._capacity.lease))
            await self._drop([claim for claim in held if claim not in kept])
        return self._capacity.lease / 3

    async def _drop(self, claims: Sequence[Claim]) -> None:
        running = [(claim, self._running.get(claim.job_id.int)) for claim in claims]
        lost = [each for claim, each in running if each is not None and each.job.claim_token == claim.claim_token]
        if not lost:
            return
        # What was just written is under another claim, or none, and is about to be told: that isn't lost.
        await asyncio.wait([each.task for each in lost], timeout=self._patience)
        for each in lost:
            if each.task.cancel():
                self._facts.tell(CLAIM_LOST, job_id=each.job.job_id)

    async def drain(self, *, patience: float) -> None:
        """Give back what is kept, wait ``patience`` seconds for what is in flight, then give the rest back.

        What was claimed ahead falls due in a moment, and is in flight then.
        """
        self._draining = True
        self._unwanted.extend(self._kept.take_all())
        await self._give_back()
        if self._held > len(self._running):
            await asyncio.sleep(AHEAD + TICK)
        left = list(self._running.values())
        if left:
            await asyncio.wait([running.task for running in left], timeout=patience)
        late = [running for running in left if not running.task.done()]
        for running in late:
            running.task.cancel()
        if late:
            await asyncio.wait([running.task for running in late])
            now = self._clock.now()
            await self._store.release(dict.fromkeys(_claims([running.job for running in late]), now))
        await self._give_back()


def _claims(jobs: Iterable[Job]) -> list[Claim]:
    return [Claim(job.job_id, job.claim_token) for job in jobs if job.claim_token is not None]
