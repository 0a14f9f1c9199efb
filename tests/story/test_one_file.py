"""One file end to end, as its users see it: stories 7 to 14 through the front door."""

from pathlib import Path
from uuid import UUID

from fluxx.telemetry import FILE_ACCEPTED
from support.scripted import Reply, ScriptedExtractor
from support.service import KEY, house

RESULT = b'{"total": 12345678901234567890.10,  "b":1, "a": [1e3, "\\u00fc"]}'


async def test_an_accepted_file_ends_as_a_stored_result_and_four_events(tmp_path: Path, database_url: str) -> None:
    async with (
        ScriptedExtractor(not_ready=2, result=RESULT) as extractor,
        house(tmp_path, database_url=database_url) as fluxx,
    ):
        client = await fluxx.client_application()
        registered = await fluxx.extractor(client, extractor.extraction_url)
        file_id = await fluxx.upload(client)
        [job] = await fluxx.finished(file_id)

        assert job["status"] == "Succeeded"
        assert job["clientApplicationExtractorId"] == str(registered.client_application_extractor_id)
        assert job["pollAttemptCount"] == 3
        assert job["resultPath"] == f"results/{client}/{file_id}/{job['jobId']}/result.json"
        assert (tmp_path / "blobs" / job["resultPath"]).read_bytes() == RESULT
        answer = await fluxx.http.get(f"/extractor/job/{job['jobId']}/result")
        assert answer.content == RESULT

        statuses = [(line["status"], line["attemptNumber"]) for line in job["history"]]
        assert statuses == [("Queued", 0), ("Started", 0), ("Started", 1), ("Started", 2), ("Succeeded", 3)]

        events = await fluxx.events(3)
        assert [event.type.rpartition(".")[2] for event in events] == ["JobQueued", "JobStarted", "JobSucceeded"]
        assert {event.data.file_id for event in events} == {file_id}
        assert str(len(RESULT)) in (events[-1].data.result_summary or "")


async def test_the_extractor_gets_the_signed_url_the_job_and_its_key(tmp_path: Path, database_url: str) -> None:
    async with ScriptedExtractor() as extractor, house(tmp_path, database_url=database_url) as fluxx:
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url)
        file_id = await fluxx.upload(client, b"the file's own bytes")
        [job] = await fluxx.finished(file_id)

        submission = extractor.requests[0]
        assert submission.method == "POST"
        assert submission.json["jobId"] == job["jobId"]
        assert submission.headers["Authorization"] == f"Bearer {KEY.reveal()}"
        assert submission.headers["Idempotency-Key"] == job["jobId"]
        fetched = await fluxx.http.get(submission.json["fileUrl"])
        assert fetched.content == b"the file's own bytes"
        assert extractor.requests[1].path.endswith(f"/{job['jobId']}")
        assert len(extractor.submissions(UUID(job["jobId"]))) == 1


async def test_every_active_extractor_gets_its_own_job_and_its_own_fate(tmp_path: Path, database_url: str) -> None:
    async with (
        ScriptedExtractor(not_ready=0) as good,
        ScriptedExtractor() as refusing,
        ScriptedExtractor() as retired,
        house(tmp_path, database_url=database_url) as fluxx,
    ):
        refusing.on_submit(Reply(422, {"detail": "no such language"}))
        client = await fluxx.client_application()
        first = await fluxx.extractor(client, good.extraction_url)
        second = await fluxx.extractor(client, refusing.extraction_url)
        third = await fluxx.extractor(client, retired.extraction_url)
        await fluxx.http.delete(f"/registration/{client}/extractors/{third.client_application_extractor_id}")
        file_id = await fluxx.upload(client)
        jobs = {UUID(job["clientApplicationExtractorId"]): job for job in await fluxx.finished(file_id, 2)}

        assert set(jobs) == {first.client_application_extractor_id, second.client_application_extractor_id}
        assert jobs[first.client_application_extractor_id]["status"] == "Succeeded"
        failed = jobs[second.client_application_extractor_id]
        assert failed["status"] == "Failed"
        assert "422" in failed["statusMessage"]
        assert "no such language" in failed["statusMessage"]
        assert retired.requests == []
        events = await fluxx.events(2, job_id=failed["jobId"])
        assert events[-1].data.error_message == failed["statusMessage"]


async def test_a_message_that_comes_again_makes_no_second_job(tmp_path: Path, database_url: str) -> None:
    async with ScriptedExtractor() as extractor, house(tmp_path, database_url=database_url) as fluxx:
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url)
        file_id = await fluxx.upload(client)
        await fluxx.finished(file_id)
        await fluxx.announce(client, file_id, message_id="again")
        await fluxx.announce(client, file_id, message_id="and-again")
        await fluxx.heard.wait_for(FILE_ACCEPTED, 3, file_id=file_id)

        assert len(await fluxx.jobs_of(file_id)) == 1
        assert len(extractor.submissions()) == 1
