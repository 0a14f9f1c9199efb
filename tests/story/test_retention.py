"""What ended long ago is forgotten, with its files and results; what lives, or has still to be told, is not."""

import asyncio
from datetime import timedelta
from pathlib import Path

from fluxx import wiring
from fluxx.model.outcome import Refused
from fluxx.telemetry import JOB_STARTED, PURGED
from support.eventually import eventually
from support.growing import grown
from support.placed_jobs import placed_job
from support.scripted import Reply, ScriptedExtractor
from support.service import house
from support.stores import JumpingClock

DAY = 86_400.0
AGE = timedelta(days=90)
YEARS = 10 * 365 * DAY
OLD_JOBS = 20_000


def blobs_of(home: Path) -> set[str]:
    root = home / "blobs"
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


async def test_old_jobs_go_with_their_files_results_and_events(tmp_path: Path, database_url: str) -> None:
    clock = JumpingClock()
    async with (
        ScriptedExtractor(not_ready=0) as quick,
        ScriptedExtractor() as endless,
        house(tmp_path, database_url=database_url, clock=clock, job_timeout_seconds=YEARS) as fluxx,
    ):
        endless.on_poll(lambda _: Reply(body={"isReady": False}))
        client, other = await fluxx.client_application(), await fluxx.client_application()
        await fluxx.extractor(client, quick.extraction_url)
        await fluxx.extractor(other, quick.extraction_url)
        await fluxx.extractor(other, endless.extraction_url)
        gone, half_done = await fluxx.upload(client), await fluxx.upload(other)
        await fluxx.finished(gone)
        await fluxx.finished(half_done)
        await fluxx.heard.wait_for(JOB_STARTED, 1)
        await fluxx.events(8)
        assert len(blobs_of(tmp_path)) == 4
        clock.jump(100 * DAY)
        young = await fluxx.upload(client)
        await fluxx.finished(young)

        forgotten = await wiring.purge(fluxx.world).older_than(AGE)

        assert (forgotten.jobs, forgotten.files) == (2, 1)
        assert (await fluxx.http.get(f"/extractor/job/file/{gone}")).status_code == 404
        [live] = await fluxx.jobs_of(half_done)
        assert live["completedAt"] is None
        assert len(await fluxx.jobs_of(young)) == 1
        assert {path.split("/")[2] for path in blobs_of(tmp_path)} == {str(half_done), str(young)}
        assert {event.data.file_id for event in await fluxx.events(3)} == {young}
        again = await wiring.purge(fluxx.world).older_than(AGE)
        assert (again.jobs, again.files, again.messages) == (0, 0, 0)


async def test_what_nobody_was_told_yet_is_kept(tmp_path: Path, database_url: str) -> None:
    clock = JumpingClock()
    roles = frozenset({"files", "jobs"})  # no worker, so that nothing is published
    async with house(tmp_path, database_url=database_url, clock=clock, roles=roles) as fluxx:
        client = await fluxx.client_application()
        extractor = await fluxx.extractor(client, "https://127.0.0.1/nowhere")
        file_id = await fluxx.upload(client)
        job = await placed_job(fluxx.world, file_id, extractor, [Refused("no")])
        clock.jump(100 * DAY)
        forgotten = await wiring.purge(fluxx.world).older_than(AGE)
        assert forgotten.jobs == 0
        assert [shown["jobId"] for shown in await fluxx.jobs_of(file_id)] == [str(job.job_id)]
        assert len(await fluxx.world.outbox.unpublished(limit=10)) == 2


async def test_a_file_that_waits_to_be_accepted_is_kept_for_a_day(tmp_path: Path, database_url: str) -> None:
    clock = JumpingClock()
    async with house(tmp_path, database_url=database_url, clock=clock, roles=frozenset({"files"})) as fluxx:
        await fluxx.upload(await fluxx.client_application())
        clock.jump(DAY / 2)
        assert (await wiring.purge(fluxx.world).older_than(timedelta(minutes=1))).files == 0
        clock.jump(DAY)
        assert (await wiring.purge(fluxx.world).older_than(timedelta(minutes=1))).files == 1
        assert blobs_of(tmp_path) == set()


async def test_a_service_forgets_by_itself(tmp_path: Path, database_url: str) -> None:
    async with ScriptedExtractor(not_ready=0) as extractor:
        async with house(tmp_path, database_url=database_url) as fluxx:
            client = await fluxx.client_application()
            await fluxx.extractor(client, extractor.extraction_url)
            await fluxx.finished(await fluxx.upload(client))
            await fluxx.events(3)
        async with house(tmp_path, database_url=database_url, retention_days=1e-6) as fluxx:
            [told] = await fluxx.heard.wait_for(PURGED)
            assert told["jobs"] == 1
            assert (await fluxx.http.get("/extractor/jobs")).json()["items"] == []


async def test_a_service_forgets_what_no_page_shows_without_being_told_to(tmp_path: Path, database_url: str) -> None:
    clock = JumpingClock()
    roles = frozenset({"files", "jobs"})
    async with house(tmp_path, database_url=database_url, clock=clock, roles=roles) as fluxx:
        client = await fluxx.client_application()
        extractor = await fluxx.extractor(client, "https://127.0.0.1/nowhere")
        clock.jump(-2 * DAY - 3600)
        for _ in range(3):
            await placed_job(fluxx.world, await fluxx.upload(client), extractor, [Refused("no")])
            clock.jump(45 * 60)
        assert len(await fluxx.world.observer.minutes(clock.now() - AGE)) == 3
    async with house(tmp_path, database_url=database_url) as fluxx:
        yesterday = fluxx.world.clock.now() - timedelta(days=1)

        async def one_is_left() -> bool:
            return len(await fluxx.world.observer.minutes(yesterday - AGE, until=yesterday)) == 1

        await eventually(one_is_left, bound=10)
        [counts] = (await fluxx.world.observer.since_the_beginning()).values()
        assert counts.failed >= 3


async def test_jobs_run_while_a_long_history_is_forgotten(tmp_path: Path, database_url: str) -> None:
    async with (
        grown(database_url, OLD_JOBS, live=0) as place,
        ScriptedExtractor() as extractor,
        house(tmp_path, database_url=database_url) as fluxx,
    ):
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url)
        purging = asyncio.create_task(wiring.purge(fluxx.world).older_than(timedelta(days=1)))
        for _ in range(3):
            [job] = await fluxx.finished(await fluxx.upload(client))
            assert job["status"] == "Succeeded"
        assert not purging.done()
        purging.cancel()
        await asyncio.wait([purging])
        first, last = (place.history.job_id(number) for number in (0, OLD_JOBS - 1))
        assert (await fluxx.http.get(f"/extractor/job/{first}")).status_code == 404
        assert (await fluxx.http.get(f"/extractor/job/{last}")).status_code == 200
