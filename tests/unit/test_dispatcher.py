"""Jobs that are claimed ahead of their time are worked on at their time, and seen through when the worker stops."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID, uuid4

from fluxx.clock import SystemClock
from fluxx.extraction.dispatcher import AHEAD, Capacity, Dispatcher
from fluxx.extraction.finish import Finish
from fluxx.model.job import Job, Status
from fluxx.ports.jobs import Due, JobStore
from fluxx.telemetry import Facts
from support.facts import BOUND
from support.jobs import a_job

clock = SystemClock()


def due_in(seconds: float) -> Job:
    now = clock.now()
    return a_job(now, status=Status.STARTED, due_at=now + timedelta(seconds=seconds), claim_token=uuid4())


class World:
    """Gives out its jobs at the first claim, and notes when each is worked on."""

    def __init__(self, jobs: Sequence[Job], *, slots: int = 10) -> None:
        self.jobs = list(jobs)
        self.limits: list[int] = []
        self.begun: dict[UUID, datetime] = {}
        self._news = asyncio.Event()
        self.dispatcher = Dispatcher(
            store=cast("JobStore", self),
            finish=cast("Finish", self.finish),
            capacity=Capacity(jobs=slots, share=slots, lease=60.0),
            clock=clock,
            facts=Facts(),
            wake=lambda: None,
        )

    async def claim(self, *, limit: int, ahead: float, **_: Any) -> Due:
        self.limits.append(limit)
        due = [job for job in self.jobs if job.due_at and job.due_at <= clock.now() + timedelta(seconds=ahead)][:limit]
        self.jobs = [job for job in self.jobs if job not in due]
        return Due(due)

    async def finish(self, job: Job) -> None:
        self.begun[job.job_id] = clock.now()
        self._news.set()

    async def has_begun(self, count: int) -> None:
        """Return once so many jobs are worked on."""
        async with asyncio.timeout(BOUND):
            while len(self.begun) < count:
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
