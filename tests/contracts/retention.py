"""What ``ports.retention.Retention`` promises: what is over goes, oldest first; what lives or waits stays.

Bind it with a subclass that has a fixture ``world``.
"""

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from fluxx.errors import NotFound
from fluxx.model.job import Job
from fluxx.model.outcome import Extracted, Refused, Submitted
from fluxx.ports.bus import Message
from fluxx.ports.jobs import JobFilter
from support.stores import StoresWorld

DAY = 86_400.0
TOPIC, INBOX = "job-status", "accepted-file"


def result_of(job: Job) -> Extracted:
    return Extracted(job.result_path, 1, "f" * 64)


async def published(world: StoresWorld) -> None:
    await world.outbox.mark_published([event.outbox_id for event in await world.outbox.unpublished(limit=1000)])


async def ended(world: StoresWorld, count: int = 1) -> list[Job]:
    """Return jobs that succeeded now, all their events published, each for a file of its own."""
    extractor = await world.extractor()
    jobs = []
    for _ in range(count):
        world.clock.jump(1)
        [job] = await world.queued(1, extractor)
        jobs.append(await world.happened(job, Submitted("HTTP 201"), result_of(job)))
    await published(world)
    return jobs


class RetentionContract:
    async def test_jobs_that_ended_are_told_oldest_first_with_all_that_goes_with_them(self, world: StoresWorld) -> None:
        jobs = await ended(world, 4)
        world.clock.jump(DAY)
        before = world.clock.now()
        outdated = await world.retention.outdated_jobs(before, limit=3)
        assert list(outdated.job_ids) == [job.job_id for job in jobs[:3]]
        assert list(outdated.result_paths) == [job.result_path for job in jobs[:3]]
        assert set(outdated.file_ids) == {job.file_id for job in jobs[:3]}
        assert len((await world.retention.outdated_jobs(before, limit=10)).job_ids) == 4

    async def test_a_job_is_as_old_as_its_end(self, world: StoresWorld) -> None:
        [queued] = await world.queued(1)
        world.clock.jump(10 * DAY)
        between = world.clock.now()
        world.clock.jump(DAY)
        await world.happened(queued, Refused("at last"))
        await published(world)
        assert (await world.retention.outdated_jobs(between, limit=10)).job_ids == []
        world.clock.jump(1)
        outdated = await world.retention.outdated_jobs(world.clock.now(), limit=10)
        assert (list(outdated.job_ids), list(outdated.result_paths)) == ([queued.job_id], [])

    async def test_what_is_forgotten_leaves_nothing_behind(self, world: StoresWorld) -> None:
        gone, kept = await ended(world, 2)
        await world.retention.forget_jobs([gone.job_id])
        await world.retention.forget_jobs([gone.job_id, uuid4()])
        with pytest.raises(NotFound):
            await world.reader.job(gone.job_id)
        histories = await world.reader.histories([gone.job_id, kept.job_id])
        assert [len(lines) for lines in histories.values()] == [0, 3]
        assert await world.reader.job(kept.job_id) == kept

    async def test_many_may_forget_the_same_at_once(self, world: StoresWorld) -> None:
        jobs = await ended(world, 20)
        ids, files = [job.job_id for job in jobs], [job.file_id for job in jobs]
        async with AsyncExitStack() as stack:
            processes = [await stack.enter_async_context(world.another()) for _ in range(4)]
            await asyncio.gather(
                *(process.retention.forget_jobs(ids[:: (-1) ** number]) for number, process in enumerate(processes))
            )
            await asyncio.gather(*(process.retention.forget_files(files) for process in processes))
        assert await world.reader.jobs(JobFilter(), limit=10) == []
        assert await world.files.files(files) == {}

    async def test_live_jobs_stay_however_old_they_are(self, world: StoresWorld) -> None:
        queued, started = await world.queued(2)
        await world.happened(started, Submitted("HTTP 201"))
        await published(world)
        world.clock.jump(1000 * DAY)
        assert (await world.retention.outdated_jobs(world.clock.now(), limit=10)).job_ids == []
        await world.retention.forget_jobs([queued.job_id, started.job_id])
        assert await world.reader.job(queued.job_id) == queued
        assert len((await world.reader.histories([started.job_id]))[started.job_id]) == 2

    async def test_a_job_with_an_event_to_be_published_stays_and_so_does_the_event(self, world: StoresWorld) -> None:
        [job] = await world.queued(1)
        await published(world)
        over = await world.happened(job, Refused("no"))
        world.clock.jump(DAY)
        assert (await world.retention.outdated_jobs(world.clock.now(), limit=10)).job_ids == []
        await world.retention.forget_jobs([job.job_id])
        assert await world.reader.job(job.job_id) == over
        assert await world.events(job.job_id) == ["JobFailed"]

    async def test_files_go_when_their_last_job_has_gone(self, world: StoresWorld) -> None:
        one, other = await ended(world, 2)
        files = [one.file_id, other.file_id]
        await world.retention.forget_files(files)
        assert set(await world.files.files(files)) == set(files)
        assert await world.retention.jobless_files(files) == {}
        await world.retention.forget_jobs([one.job_id])
        path = (await world.files.file(one.file_id)).blob_path
        assert await world.retention.jobless_files([*files, uuid4()]) == {one.file_id: path}
        await world.retention.forget_files(files)
        assert set(await world.files.files(files)) == {other.file_id}

    async def test_files_that_never_had_a_job_are_told_oldest_first(self, world: StoresWorld) -> None:
        extractor = await world.extractor()
        await ended(world)
        files: list[UUID] = []
        for _ in range(3):
            world.clock.jump(1)
            files.append((await world.file(extractor)).file_id)
        world.clock.jump(1)
        before = world.clock.now()
        world.clock.jump(1)
        await world.file(extractor)
        assert list(await world.retention.outdated_files(before, limit=2)) == files[:2]
        assert list(await world.retention.outdated_files(before, limit=10)) == files

    async def test_old_log_entries_and_dead_letters_go_and_what_waits_to_be_received_stays(
        self, world: StoresWorld
    ) -> None:
        bus = world.database.bus({TOPIC: ["log"], INBOX: ["work"]})
        log, work = bus.subscription(TOPIC, "log"), bus.subscription(INBOX, "work")
        await bus.publish(INBOX, [Message(message_id=f"{number}", body=b"{}") for number in range(2)])
        [poison] = await work.receive(limit=1, wait=5)
        await work.dead_letter(poison, reason="NotJson", description="no")
        await bus.publish(TOPIC, [Message(message_id=f"{number}", body=b"{}") for number in range(5)])
        world.clock.jump(1)
        before = world.clock.now()
        world.clock.jump(1)
        await bus.publish(TOPIC, [Message(message_id="new", body=b"{}")])
        forgotten = [await world.retention.forget_messages(before, log=TOPIC, limit=4) for _ in range(3)]
        assert forgotten == [4, 2, 0]
        assert [one.message.message_id for one in await log.browse()] == ["new"]
        assert len(await work.browse()) == 1
        assert await work.browse(dead=True) == []

    async def test_old_minutes_are_forgotten_a_few_at_a_time_and_their_sums_are_not(self, world: StoresWorld) -> None:
        extractor = await world.extractor()
        for minutes in (1, 3, 60):
            await world.queued(1, extractor)
            world.clock.jump(60 * minutes)
        began, kept = world.clock.now() - timedelta(minutes=64), world.clock.now() - timedelta(minutes=30)
        await world.queued(1, extractor)
        before = await world.observer.since_the_beginning()
        assert len(await world.observer.minutes(began)) == 4
        left = []
        while await world.retention.forget_minutes(kept, limit=2):
            left.append(len(await world.observer.minutes(began)))
        assert left == [2, 1]
        assert await world.observer.since_the_beginning() == before
