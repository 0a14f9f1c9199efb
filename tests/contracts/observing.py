"""What ``ports.observing.Observer`` promises: numbers that add up, however they were written.

Bind it with a subclass that has a fixture ``world``.
"""

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta
from uuid import uuid4

import pytest
from msgspec.structs import replace

from fluxx.errors import NotFound
from fluxx.model.counts import Counts, total
from fluxx.model.outcome import Extracted, NotReady, Refused, Retry, Submitted
from fluxx.ports.jobs import Acceptance
from fluxx.ports.observing import Backlog
from support.stores import LEASE, StoresWorld

RESULT = Extracted("results/1/2/3/result.json", 4096, "f" * 64)


class ObservingContract:
    async def test_every_step_is_counted_for_its_extractor(self, world: StoresWorld) -> None:
        extractor, other = await world.extractor(), await world.extractor()
        done, failed, refused, started, _ = await world.queued(5, extractor)
        [elsewhere] = await world.queued(1, other)
        await world.happened(done, Submitted("ok"), NotReady(), Retry("busy"), NotReady(), RESULT)
        await world.happened(failed, Submitted("ok"), Refused("no"))
        await world.happened(refused, Retry("away"), Refused("no"))
        await world.happened(started, Submitted("ok"))
        await world.happened(elsewhere, RESULT)
        counts = await world.observer.since_the_beginning()
        own = counts[extractor.client_application_extractor_id]
        assert (own.queued, own.started, own.succeeded, own.failed, own.unstarted) == (5, 3, 1, 2, 1)
        assert (own.polls, own.retries) == (3, 2)
        assert (own.waiting, own.working, own.finished) == (1, 1, 3)
        others = counts[other.client_application_extractor_id]
        assert (others.queued, others.started, others.succeeded, others.waiting, others.working) == (1, 1, 1, 0, 0)

    async def test_minutes_are_told_apart_and_add_up(self, world: StoresWorld) -> None:
        began = world.clock.now()
        extractor, other = await world.extractor(), await world.extractor()
        first, second = await world.queued(2, extractor)
        await world.happened(first, RESULT)
        world.clock.jump(180)
        await world.happened(second, RESULT)
        await world.queued(1, other)
        minutes = await world.observer.minutes(began)
        assert [minute.at.second for minute in minutes] == [0] * len(minutes)
        assert minutes[-1].at - minutes[0].at in (timedelta(minutes=3), timedelta(minutes=4))
        all_time = await world.observer.since_the_beginning()
        assert sum(minute.succeeded for minute in minutes) == total([*all_time.values()]).succeeded == 2
        before = await world.observer.minutes(began, until=minutes[-1].at)
        assert before == minutes[:-1]
        late = await world.observer.since(world.clock.now() - timedelta(minutes=1))
        assert late[extractor.client_application_extractor_id].succeeded == 1
        ours = await world.observer.minutes(began, extractors=[extractor.client_application_extractor_id])
        assert sum(minute.succeeded for minute in ours) == 2
        each = await world.observer.minutes_of_each(began)
        assert each[extractor.client_application_extractor_id] == ours
        early = await world.observer.since(began, until=minutes[-1].at)
        assert early[extractor.client_application_extractor_id].succeeded == 1

    async def test_the_time_to_a_result_is_told_by_its_class(self, world: StoresWorld) -> None:
        extractor = await world.extractor()
        quick, slow = await world.queued(2, extractor)
        await world.happened(quick, RESULT)
        world.clock.jump(45)
        await world.happened(slow, RESULT)
        counts = (await world.observer.since_the_beginning())[extractor.client_application_extractor_id]
        assert 45_000 <= counts.milliseconds < 75_000
        assert (counts.longest_time_to_result(0.5) or 99) <= 30
        assert counts.longest_time_to_result(0.95) in {50, 80}

    async def test_nothing_is_lost_or_counted_twice_by_many_writers(self, world: StoresWorld) -> None:
        extractor = await world.extractor()
        jobs = await world.queued(40, extractor)
        async with AsyncExitStack() as stack:
            others = [await stack.enter_async_context(world.another()) for _ in range(3)]
            stores = [world.jobs, *(other.jobs for other in others)]
            held = [await world.jobs.seize(job.job_id, lease=LEASE) for job in jobs]
            transitions = [world.transition(job, Submitted("ok")) for job in held]
            await asyncio.gather(*(stores[i % len(stores)].apply(one) for i, one in enumerate(transitions)))
            await asyncio.gather(*(stores[i % len(stores)].apply(one) for i, one in enumerate(transitions)))
        counts = (await world.observer.since_the_beginning())[extractor.client_application_extractor_id]
        assert (counts.queued, counts.started) == (40, 40)

    async def test_what_waits_the_longest_is_known(self, world: StoresWorld) -> None:
        nothing = await world.observer.backlog()
        assert nothing == Backlog()
        jobs = await world.queued(3)
        found = await world.observer.backlog()
        assert found.oldest_due_at == min(job.due_at for job in jobs if job.due_at)
        assert found.oldest_event_at == jobs[0].created_at

    async def test_an_uploaded_file_waits_until_its_message_is_dealt_with(self, world: StoresWorld) -> None:
        extractor = await world.extractor()
        first = await world.file(extractor)
        world.clock.jump(1)
        second = await world.file(extractor)
        assert (await world.observer.backlog()).oldest_file_at == first.created_at
        await world.jobs.accept(Acceptance(uuid4(), ()))
        assert (await world.observer.backlog()).oldest_file_at == first.created_at
        await world.accepted(world.new_job(first, extractor))
        assert (await world.observer.backlog()).oldest_file_at == second.created_at
        # Its client application may have no active extractor: dealt with all the same.
        await world.jobs.accept(Acceptance(second.file_id, ()))
        assert (await world.observer.backlog()).oldest_file_at is None

    async def test_a_file_waits_no_longer_once_it_is_given_up_forgotten_or_a_day_old(self, world: StoresWorld) -> None:
        extractor = await world.extractor()
        unannounced, forgotten, lost = [await world.file(extractor) for _ in range(3)]
        for _ in range(2):
            await world.files.give_up(unannounced.file_id)
        await world.retention.forget_files([forgotten.file_id])
        assert (await world.observer.backlog()).oldest_file_at == lost.created_at
        world.clock.jump(timedelta(days=1, seconds=1).total_seconds())
        assert (await world.observer.backlog()).oldest_file_at is None
        late = await world.accepted(world.new_job(lost, extractor), world.new_job(unannounced, extractor))
        assert len(late) == 2

    async def test_who_is_refused_leaves_the_file_waiting(self, world: StoresWorld) -> None:
        extractor, stranger = await world.extractor(), await world.extractor()
        file = await world.file(extractor)
        with pytest.raises(NotFound):
            await world.accepted(
                replace(world.new_job(file, stranger), client_application_id=stranger.client_application_id)
            )
        assert (await world.observer.backlog()).oldest_file_at == file.created_at

    async def test_a_database_without_jobs_has_no_numbers(self, world: StoresWorld) -> None:
        assert await world.observer.since_the_beginning() == {}
        assert await world.observer.since(world.clock.now()) == {}
        assert total([]) == Counts()
