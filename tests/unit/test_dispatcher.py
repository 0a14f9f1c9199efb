"""Jobs that are claimed ahead of their time, or kept since their last poll, are worked on at their time.

When the worker stops, the first are seen through and the others given back.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID, uuid4

import pytest
from msgspec.structs import replace

from fluxx.clock import SystemClock
from fluxx.errors import Unavailable
from fluxx.extraction.dispatcher import AHEAD, Capacity, Dispatcher
from fluxx.extraction.finish import Finish
from fluxx.model.job import Job, Status
from fluxx.ports.jobs import Claim, Due, JobStore
from fluxx.telemetry import Facts
from support.facts import BOUND
from support.jobs import a_job

LEASE = 60.0
clock = SystemClock()


def due_in(seconds: float) -> Job:
    now = clock.now()
    return a_job(now, status=Status.STARTED, due_at=now + timedelta(seconds=seconds), claim_token=uuid4())


def kept(job: Job, seconds: float) -> Job:
    """The job as it is written where it stays with its worker: due in so many seconds."""
    due_at = clock.now() + timedelta(seconds=seconds + LEASE)
    return replace(job, due_at=due_at, claim_token=uuid4())


class World:
    """Gives out its jobs at the first claim, and notes when each is worked on, and what is given back for when.

    ``written`` says what comes of the steps of a job, one after the other; the steps of ``hanging`` ones don't end
    before it is ``enough``.
    """

    def __init__(self, jobs: Sequence[Job], *, slots: int = 10, share: int | None = None) -> None:
        self.jobs = list(jobs)
        self.limits: list[int] = []
        self.begun: dict[UUID, datetime] = {}
        self.steps: list[UUID] = []
        self.written: dict[UUID, list[Job]] = {}
        self.hanging: set[UUID] = set()
        self.enough = asyncio.Event()
        self.released: dict[Claim, datetime] = {}
        self.away = False
        self.woken = asyncio.Event()
        self._news = asyncio.Event()
        self.dispatcher = Dispatcher(
            store=cast("JobStore", self),
            finish=cast("Finish", self.finish),
            capacity=Capacity(jobs=slots, share=share or slots, lease=LEASE),
            clock=clock,
            facts=Facts(),
            wake=self.woken.set,
        )

    async def claim(self, *, limit: int, ahead: float, **_: Any) -> Due:
        self.limits.append(limit)
        due = [job for job in self.jobs if job.due_at and job.due_at <= clock.now() + timedelta(seconds=ahead)][:limit]
        self.jobs = [job for job in self.jobs if job not in due]
        return Due(due)

    async def release(self, claims: Mapping[Claim, datetime]) -> None:
        if self.away:
            raise Unavailable("The database is away.")
        self.released.update(claims)

    async def finish(self, job: Job) -> Job | None:
        self.begun[job.job_id] = clock.now()
        self.steps.append(job.job_id)
        self._news.set()
        if job.job_id in self.hanging:
            await self.enough.wait()
        following = self.written.get(job.job_id)
        return following.pop(0) if following else None

    async def has_begun(self, count: int) -> None:
        """Return once so many steps have begun."""
        async with asyncio.timeout(BOUND):
            while len(self.steps) < count:
                self._news.clear()
                await self._news.wait()


async def test_a_job_claimed_ahead_is_worked_on_when_it_is_due_and_not_before() -> None:
    jobs = [due_in(seconds) for seconds in (AHEAD * 0.8, -1.0, AHEAD * 0.4)]
    world = World(jobs)
    await world.dispatcher.claim()
    assert (world.jobs, list(world.begun)) == ([], [])
    await world.has_begun(3)
    assert list(world.begun) == [job.job_id for job in sorted(jobs, key=lambda job: str(job.due_at))]
    for job in jobs[::2]:
        assert job.due_at is not None
        assert world.begun[job.job_id] >= job.due_at


async def test_a_job_claimed_ahead_holds_its_slot() -> None:
    world = World([due_in(AHEAD * 0.9) for _ in range(3)], slots=3)
    await world.dispatcher.claim()
    await world.dispatcher.claim()
    assert world.limits == [3]
    await world.has_begun(3)
    for _ in range(3):
        await asyncio.sleep(0)  # the last of them ends
    await world.dispatcher.claim()
    assert world.limits == [3, 3]


async def test_a_worker_that_stops_sees_through_what_it_claimed_ahead() -> None:
    world = World([due_in(AHEAD * 0.9)])
    await world.dispatcher.claim()
    await world.dispatcher.drain(patience=5.0)
    assert len(world.begun) == 1


async def test_a_kept_job_is_worked_on_at_its_time_without_being_claimed_again() -> None:
    job = due_in(-1.0)
    world = World([job])
    again = kept(job, 0.05)
    world.written[job.job_id] = [again, kept(job, 0.0)]
    await world.dispatcher.claim()
    await world.has_begun(3)
    assert (world.steps, world.limits, world.released) == ([job.job_id] * 3, [10], {})


async def test_a_kept_job_is_never_worked_on_early() -> None:
    jobs = [due_in(-1.0) for _ in range(20)]
    world = World(jobs, slots=100)
    again = {job.job_id: kept(job, 0.1 - 0.004 * number) for number, job in enumerate(jobs)}
    world.written = {job_id: [job] for job_id, job in again.items()}
    await world.dispatcher.claim()
    await world.has_begun(40)
    for job_id, job in again.items():
        assert job.due_at is not None
        assert world.begun[job_id] >= job.due_at - timedelta(seconds=LEASE)


@pytest.mark.parametrize(("slots", "share", "hanging"), [(4, 4, 3), (100, 4, 3)])
async def test_kept_jobs_wait_in_turn_for_a_slot_and_are_given_back_where_there_is_none(
    slots: int, share: int, hanging: int
) -> None:
    extractor = uuid4()
    jobs = [replace(due_in(-1.0), client_application_extractor_id=extractor) for _ in range(hanging + 1)]
    world = World(jobs, slots=slots, share=share)
    world.hanging = {job.job_id for job in jobs[1:]}
    again = kept(jobs[0], 0.01)
    world.written[jobs[0].job_id] = [again]
    await world.dispatcher.claim()
    async with asyncio.timeout(BOUND):
        await world.woken.wait()
    await world.dispatcher.claim()
    assert again.due_at is not None
    assert again.claim_token is not None
    claim = Claim(again.job_id, again.claim_token)
    assert world.released == {claim: again.due_at - timedelta(seconds=LEASE)}
    assert world.steps.count(again.job_id) == 1
    await world.dispatcher.drain(patience=0.0)


async def test_kept_jobs_begin_in_turn_once_there_are_slots_whosever_they_are() -> None:
    busy, quiet = uuid4(), uuid4()
    hanging = [replace(due_in(-1.0), client_application_extractor_id=busy) for _ in range(3)]
    waiting = [
        replace(due_in(-1.0), client_application_extractor_id=extractor) for extractor in (busy, busy, busy, quiet)
    ]
    world = World([*hanging, *waiting], slots=8, share=4)
    world.hanging = {job.job_id for job in hanging}
    world.written = {job.job_id: [kept(job, 0.02 + 0.001 * number)] for number, job in enumerate(waiting)}
    while world.jobs:
        await world.dispatcher.claim()
        await world.has_begun(len(world.steps))
    await world.has_begun(8)
    assert world.steps[7:] == [waiting[3].job_id], "another extractor's job waits for nobody"
    world.enough.set()
    await world.has_begun(11)
    assert world.steps[8:] == [job.job_id for job in waiting[:3]]
    assert world.released == {}


async def test_a_kept_job_whose_claim_is_about_to_end_is_given_back() -> None:
    job = due_in(-1.0)
    world = World([job])
    world.written[job.job_id] = [kept(job, -LEASE / 2)]
    await world.dispatcher.claim()
    async with asyncio.timeout(BOUND):
        await world.woken.wait()
    await world.dispatcher.claim()
    assert (world.steps, len(world.released)) == ([job.job_id], 1)


async def test_a_worker_that_stops_gives_back_what_it_keeps_for_when_it_is_due() -> None:
    waits, ends = due_in(-1.0), due_in(AHEAD * 0.8)
    world = World([waits, ends])
    again = {waits.job_id: kept(waits, 9.0), ends.job_id: kept(ends, 5.0)}
    world.written = {job_id: [job] for job_id, job in again.items()}
    await world.dispatcher.claim()
    await world.has_begun(1)
    await world.dispatcher.drain(patience=5.0)
    due = {claim.job_id: due_at for claim, due_at in world.released.items()}
    assert due == {
        job_id: job.due_at - timedelta(seconds=LEASE) for job_id, job in again.items() if job.due_at is not None
    }
    assert world.steps == [waits.job_id, ends.job_id]


async def test_what_cannot_be_given_back_does_not_keep_a_worker_from_stopping() -> None:
    job, running = due_in(-1.0), due_in(AHEAD * 0.8)
    world = World([job, running])
    world.written[job.job_id] = [kept(job, 9.0)]
    world.away = True
    await world.dispatcher.claim()
    await world.has_begun(1)
    await world.dispatcher.drain(patience=5.0)
    assert (world.steps, world.released) == ([job.job_id, running.job_id], {})
