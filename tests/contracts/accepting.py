"""What ``ports.jobs.JobStore`` promises about accepting: every job once, however often and from wherever it comes.

Bind it with a subclass that has a fixture ``world``.
"""

import asyncio
import random
from contextlib import AsyncExitStack
from uuid import uuid4

import pytest
from msgspec.structs import replace

from fluxx.errors import NotFound
from fluxx.model.job import Status
from fluxx.model.transitions import queue
from fluxx.ports.jobs import Acceptance
from support.stores import StoresWorld, acceptance

PROCESSES = 4


class AcceptingContract:
    async def test_an_accepted_job_is_there_with_its_first_line_and_event(self, world: StoresWorld) -> None:
        extractor = await world.extractor()
        job = replace(
            world.new_job(await world.file(extractor), extractor),
            trace_context="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        )
        accepted = await world.jobs.accept(acceptance(job))
        assert (list(accepted.new), list(accepted.known)) == ([job], [])
        assert await world.reader.job(job.job_id) == job
        [line] = (await world.reader.histories([job.job_id]))[job.job_id]
        assert (line.status, line.attempt_number, line.timestamp) == (Status.QUEUED, 0, job.created_at)
        [event] = await world.outbox.unpublished(limit=10)
        [wanted] = queue(job).events
        assert (event.event_id, event.order_key, event.trace_context) == (
            wanted.event_id,
            str(job.job_id),
            job.trace_context,
        )

    async def test_accepting_again_changes_nothing_and_shows_what_there_is(self, world: StoresWorld) -> None:
        extractor = await world.extractor()
        file = await world.file(extractor)
        first = world.new_job(file, extractor)
        await world.accepted(first)
        moved_on = await world.jobs.seize(first.job_id, lease=60)
        again = await world.jobs.accept(acceptance(world.new_job(file, extractor)))
        assert (list(again.new), list(again.known)) == ([], [moved_on])
        assert len(await world.outbox.unpublished(limit=10)) == 1

    async def test_only_what_is_new_is_added(self, world: StoresWorld) -> None:
        client = await world.client_application()
        one, two = await world.extractor(client), await world.extractor(client)
        file = await world.file(one)
        [known] = await world.accepted(world.new_job(file, one))
        new = world.new_job(file, two)
        accepted = await world.jobs.accept(acceptance(world.new_job(file, one), new))
        assert (list(accepted.new), list(accepted.known)) == ([new], [known])

    async def test_another_key_is_another_job(self, world: StoresWorld) -> None:
        extractor = await world.extractor()
        file = await world.file(extractor)
        await world.accepted(world.new_job(file, extractor))
        assert len(await world.accepted(world.new_job(file, extractor, key="retry:1"))) == 1

    async def test_accepting_no_job_is_fine(self, world: StoresWorld) -> None:
        accepted = await world.jobs.accept(Acceptance(uuid4(), ()))
        assert (list(accepted.new), list(accepted.known)) == ([], [])

    async def test_the_same_at_the_same_time_is_one_job(self, world: StoresWorld) -> None:
        extractor = await world.extractor()
        file = await world.file(extractor)
        wanted = [world.new_job(file, extractor) for _ in range(20)]
        answers = await asyncio.gather(*(world.jobs.accept(acceptance(job)) for job in wanted))
        new = [job for answer in answers for job in answer.new]
        assert len(new) == 1
        assert [job for answer in answers for job in answer.known] == new * 19
        assert len(await world.outbox.unpublished(limit=100)) == 1

    async def test_a_file_kept_upstream_comes_with_its_jobs(self, world: StoresWorld) -> None:
        extractor = await world.extractor()
        file = world.new_file(extractor)
        for _ in range(2):
            await world.jobs.accept(acceptance(world.new_job(file, extractor), file=file))
        assert await world.files.file(file.file_id) == file

    @pytest.mark.parametrize("seed", [1, 2])
    async def test_processes_that_accept_the_same_files_make_each_job_once(self, world: StoresWorld, seed: int) -> None:
        chance = random.Random(seed)
        client = await world.client_application()
        extractors = [await world.extractor(client) for _ in range(3)]
        files = [world.new_file(extractors[0]) for _ in range(20)]

        def wanted() -> list[Acceptance]:
            # Every process sees the messages in another order, and the extractors too.
            messages = [
                acceptance(*(world.new_job(file, one) for one in chance.sample(extractors, len(extractors))), file=file)
                for file in files
            ]
            return chance.sample(messages, len(messages))

        async with AsyncExitStack() as stack:
            processes = [await stack.enter_async_context(world.another()) for _ in range(PROCESSES)]
            answers = await asyncio.gather(
                *(process.jobs.accept(one) for process in processes for one in wanted()), return_exceptions=True
            )
        assert [answer for answer in answers if isinstance(answer, BaseException)] == []
        new = [job for answer in answers if not isinstance(answer, BaseException) for job in answer.new]
        known = [job for answer in answers if not isinstance(answer, BaseException) for job in answer.known]
        assert len(new) == len({(job.file_id, job.client_application_extractor_id) for job in new}) == 60
        assert {job.job_id for job in known} == {job.job_id for job in new}
        assert len(known) == 60 * (PROCESSES - 1)
        histories = await world.reader.histories([job.job_id for job in new])
        assert {len(lines) for lines in histories.values()} == {1}
        assert len(await world.outbox.unpublished(limit=1000)) == 60

    async def test_what_names_nothing_is_not_found_and_leaves_nothing(self, world: StoresWorld) -> None:
        extractor, stranger = await world.extractor(), await world.extractor()
        file = await world.file(extractor)
        there = world.new_job(file, extractor)
        unknown_file = replace(world.new_job(file, extractor), file_id=uuid4())
        unknown_extractor = replace(world.new_job(file, extractor), client_application_extractor_id=uuid4())
        of_another = world.new_job(await world.file(stranger), stranger)
        of_another = replace(of_another, client_application_id=extractor.client_application_id)
        remote = world.new_file(extractor)
        unheard = replace(remote, client_application_id=uuid4())
        refused = [
            acceptance(unknown_file),
            acceptance(there, unknown_extractor),
            acceptance(of_another),
            acceptance(replace(world.new_job(remote, extractor), client_application_extractor_id=uuid4()), file=remote),
            acceptance(world.new_job(unheard, extractor), file=unheard),
        ]
        for one in refused:
            with pytest.raises(NotFound):
                await world.jobs.accept(one)
        assert await world.outbox.unpublished(limit=10) == []
        assert await world.files.files([remote.file_id]) == {}

    async def test_who_is_refused_takes_nobody_with_him(self, world: StoresWorld) -> None:
        extractor = await world.extractor()
        file = await world.file(extractor)
        good = [world.new_job(file, extractor, key=f"{number}") for number in range(10)]
        bad = replace(world.new_job(file, extractor), client_application_extractor_id=uuid4())
        answers = await asyncio.gather(
            *(world.jobs.accept(acceptance(job)) for job in [*good[:5], bad, *good[5:]]), return_exceptions=True
        )
        assert isinstance(answers.pop(5), NotFound)
        assert [list(answer.new) for answer in answers if not isinstance(answer, BaseException)] == [
            [job] for job in good
        ]
