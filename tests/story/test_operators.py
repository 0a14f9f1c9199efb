"""What operators and callers can do: cancel, retry, and see poison put aside."""

from pathlib import Path
from uuid import UUID, uuid4

from fluxx import wiring
from fluxx.model.kinds import CANCELLED, kind_of
from fluxx.telemetry import JOB_STARTED, MESSAGE_POISONED
from support.scripted import Reply, ScriptedExtractor
from support.service import house


async def test_a_cancelled_job_fails_and_stays_failed(tmp_path: Path, database_url: str) -> None:
    async with ScriptedExtractor(not_ready=9999) as extractor, house(tmp_path, database_url=database_url) as fluxx:
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url)
        file_id = await fluxx.upload(client)
        await fluxx.heard.wait_for(JOB_STARTED)
        [job] = await fluxx.jobs_of(file_id)
        answer = await fluxx.http.post(f"/extractor/job/{job['jobId']}/cancel")
        assert answer.status_code == 202
        [cancelled] = await fluxx.finished(file_id)

        assert cancelled["status"] == "Failed"
        assert "Cancelled" in cancelled["statusMessage"]
        again = await fluxx.http.post(f"/extractor/job/{job['jobId']}/cancel")
        assert again.status_code == 409
        assert again.headers["content-type"] == "application/problem+json"
        events = await fluxx.events(3)
        assert [event.type.rpartition(".")[2] for event in events] == ["JobQueued", "JobStarted", "JobFailed"]


async def test_a_reason_of_ones_own_is_told_beside_that_it_was_cancelled(tmp_path: Path) -> None:
    async with ScriptedExtractor(not_ready=9999) as extractor, house(tmp_path) as fluxx:
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url)
        file_id = await fluxx.upload(client)
        await fluxx.heard.wait_for(JOB_STARTED)
        [job] = await fluxx.jobs_of(file_id)
        cancelled = await wiring.intervention(fluxx.world).cancel(UUID(job["jobId"]), reason="wrong file")
        assert cancelled.status_message == "Cancelled by an operator: wrong file"
        assert kind_of(cancelled.status_message) is CANCELLED


async def test_a_failed_job_is_run_again_once_however_often_it_is_asked(tmp_path: Path, database_url: str) -> None:
    async with ScriptedExtractor() as extractor, house(tmp_path, database_url=database_url) as fluxx:
        extractor.on_submit(lambda _: Reply(400) if len(extractor.submissions()) == 1 else None)
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url)
        file_id = await fluxx.upload(client)
        [failed] = await fluxx.finished(file_id)
        first = await fluxx.http.post(f"/extractor/job/{failed['jobId']}/retry")
        second = await fluxx.http.post(f"/extractor/job/{failed['jobId']}/retry")
        jobs = await fluxx.finished(file_id, 2)

        assert first.status_code == second.status_code == 201
        assert first.json()["jobId"] == second.json()["jobId"] != failed["jobId"]
        assert [job["status"] for job in jobs] == ["Failed", "Succeeded"]


async def test_poison_is_put_aside_with_its_reason(tmp_path: Path, database_url: str) -> None:
    async with ScriptedExtractor() as extractor, house(tmp_path, database_url=database_url) as fluxx:
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url)
        await fluxx.publish(b"\xff not json", message_id="1")
        await fluxx.publish(b'{"FileId": 7}', message_id="2")
        await fluxx.announce(uuid4(), uuid4(), message_id="3")
        await fluxx.announce(client, uuid4(), message_id="4")
        await fluxx.heard.wait_for(MESSAGE_POISONED, 4)

        settings = fluxx.world.settings
        inbox = fluxx.world.bus.subscription(settings.topic_accepted_file, settings.accepted_file_subscription)
        dead = {one.message.message_id: one.dead_letter_reason for one in await inbox.browse(dead=True)}
        assert dead == {
            "1": "NotJson",
            "2": "FieldInvalid",
            "3": "UnknownClientApplication",
            "4": "UnknownFile",
        }


async def test_a_file_kept_upstream_is_submitted_by_the_url_received(tmp_path: Path, database_url: str) -> None:
    async with ScriptedExtractor() as extractor, house(tmp_path, database_url=database_url) as fluxx:
        client, file_id = await fluxx.client_application(), uuid4()
        await fluxx.extractor(client, extractor.extraction_url)
        url = "https://files.example/7?sig=made-up"
        await fluxx.announce(client, file_id, message_id="1", file_url=url)
        await fluxx.heard.wait_for(JOB_STARTED)
        [job] = await fluxx.finished(file_id)

        assert job["status"] == "Succeeded"
        assert extractor.submissions()[0].json["fileUrl"] == url
