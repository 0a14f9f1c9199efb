"""What ``ports.jobs.JobReader`` promises: every job once, newest first, whatever is written meanwhile.

Bind it with a subclass that has a fixture ``world``.
"""

import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from msgspec.structs import replace

from fluxx.errors import NotFound
from fluxx.model.job import Extractor, Job, Status
from fluxx.model.outcome import Extracted, Refused, Submitted
from fluxx.ports.jobs import JobFilter, Position
from support.stores import StoresWorld

ANY = JobFilter()
OUTCOMES = {
    Status.QUEUED: (),
    Status.STARTED: (Submitted("HTTP 201"),),
    Status.SUCCEEDED: (Submitted("HTTP 201"), Extracted("results/1", 1, "f")),
    Status.FAILED: (Refused("no"),),
}


async def created(world: StoresWorld, extractor: Extractor, ages: Sequence[float]) -> list[Job]:
    """Accept jobs that were created so many seconds ago; return them newest first."""
    file = await world.file(extractor)
    jobs = [
        replace(world.new_job(file, extractor, key=f"{number}"), created_at=world.clock.now() - timedelta(seconds=age))
        for number, age in enumerate(ages)
    ]
    await world.accepted(*jobs)
    return sorted(jobs, key=lambda job: job.created_at, reverse=True)


async def paged(world: StoresWorld, wanted: JobFilter, *, limit: int) -> list[Job]:
    """Read page after page to the end."""
    seen: list[Job] = []
    after: Position | None = None
    while page := await world.reader.jobs(wanted, limit=limit, after=after):
        assert len(page) <= limit
        seen += page
        after = Position(page[-1].created_at, page[-1].job_id)
    return seen


class ReadingContract:
    async def test_a_job_that_is_none_is_not_found(self, world: StoresWorld) -> None:
        with pytest.raises(NotFound):
            await world.reader.job(uuid4())

    async def test_the_newest_comes_first(self, world: StoresWorld) -> None:
        jobs = await created(world, await world.extractor(), [3, 1, 4, 1.5, 9, 2.6])
        assert await world.reader.jobs(ANY, limit=10) == jobs
        assert await world.reader.jobs(ANY, limit=2) == jobs[:2]

    async def test_pages_show_every_job_once(self, world: StoresWorld) -> None:
        jobs = await created(world, await world.extractor(), range(23))
        assert await paged(world, ANY, limit=5) == jobs

    async def test_jobs_of_the_same_moment_are_all_shown(self, world: StoresWorld) -> None:
        extractor = await world.extractor()
        file = await world.file(extractor)
        moment = world.clock.now()
        jobs = [replace(world.new_job(file, extractor, key=f"{number}"), created_at=moment) for number in range(11)]
        await world.accepted(*jobs)
        seen = await paged(world, ANY, limit=3)
        assert {job.job_id for job in seen} == {job.job_id for job in jobs}
        assert len(seen) == 11
        assert seen == await world.reader.jobs(ANY, limit=11)

    async def test_what_is_added_meanwhile_moves_no_page(self, world: StoresWorld) -> None:
        extractor = await world.extractor()
        jobs = await created(world, extractor, range(20))
        seen: list[Job] = []
        after: Position | None = None
        while page := await world.reader.jobs(ANY, limit=4, after=after):
            seen += page
            after = Position(page[-1].created_at, page[-1].job_id)
            world.clock.jump(1)
            await created(world, extractor, [0, 0.1, 0.2])
        assert seen == jobs

    @pytest.mark.parametrize("seed", [1, 2])
    async def test_every_filter_shows_what_fits_and_nothing_else(self, world: StoresWorld, seed: int) -> None:
        chance = random.Random(seed)
        clients = [await world.client_application() for _ in range(2)]
        extractors = [await world.extractor(client) for client in clients for _ in range(2)]
        for _ in range(3):
            for extractor in extractors:
                for job in await created(world, extractor, [chance.random() * 100 for _ in range(3)]):
                    await world.happened(job, *OUTCOMES[chance.choice(list(Status))])
        everything = await world.reader.jobs(ANY, limit=1000)
        assert len(everything) == 36
        some = chance.choice(everything)
        fields: dict[str, Any] = {
            "status": some.status,
            "client_application_id": some.client_application_id,
            "client_application_extractor_id": some.client_application_extractor_id,
            "file_id": some.file_id,
        }
        filters = [{name: fields[name]} for name in fields] + [
            {name: fields[name] for name in chance.sample(list(fields), 2)} for _ in range(8)
        ]
        filters += [{"status": status} for status in Status]
        for wanted in filters:
            fitting = [job for job in everything if all(getattr(job, name) == wanted[name] for name in wanted)]
            assert await paged(world, JobFilter(**wanted), limit=4) == fitting, wanted

    async def test_a_filter_that_nothing_fits_shows_nothing(self, world: StoresWorld) -> None:
        await created(world, await world.extractor(), [1])
        for wanted in (JobFilter(file_id=uuid4()), JobFilter(client_application_id=uuid4(), status=Status.FAILED)):
            assert await world.reader.jobs(wanted, limit=5) == []

    async def test_every_history_asked_for_is_there(self, world: StoresWorld) -> None:
        one, two = await world.queued(2)
        await world.happened(two, Submitted("HTTP 201"))
        nobody = uuid4()
        histories = await world.reader.histories([two.job_id, nobody, one.job_id])
        assert {job_id: [line.status for line in lines] for job_id, lines in histories.items()} == {
            one.job_id: ["Queued"],
            two.job_id: ["Queued", "Started"],
            nobody: [],
        }
        assert await world.reader.histories([]) == {}

    async def test_jobs_come_with_the_histories_that_they_have_alone(self, world: StoresWorld) -> None:
        one, two = await world.queued(2)
        await world.happened(two, Submitted("HTTP 201"))
        told = await world.reader.jobs_with_histories(JobFilter(), limit=5)
        histories = await world.reader.histories([one.job_id, two.job_id])
        assert told == [(job, histories[job.job_id]) for job in await world.reader.jobs(JobFilter(), limit=5)]
        assert [await world.reader.job_with_history(job.job_id) for job, _ in told] == told
        assert [len(history) for _, history in told] == [2, 1]
        assert await world.reader.jobs_with_histories(JobFilter(file_id=uuid4()), limit=5) == []
        with pytest.raises(NotFound):
            await world.reader.job_with_history(uuid4())
