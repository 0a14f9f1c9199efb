"""What ends a job that doesn't end by itself, and what merely delays it (stories 9, 10 and 13)."""

from pathlib import Path

import pytest

from support.scripted import Reply, ScriptedExtractor
from support.service import house


async def test_a_job_that_is_never_ready_fails_at_the_poll_limit(tmp_path: Path, database_url: str) -> None:
    async with (
        ScriptedExtractor(not_ready=99) as extractor,
        house(tmp_path, database_url=database_url, max_poll_attempts=3) as fluxx,
    ):
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url)
        [job] = await fluxx.finished(await fluxx.upload(client))

        assert job["status"] == "Failed"
        assert job["pollAttemptCount"] == 3
        assert "3 polls" in job["statusMessage"]
        assert "MAX_POLL_ATTEMPTS" in job["statusMessage"]
        assert [line["attemptNumber"] for line in job["history"]] == [0, 0, 1, 2, 3, 3]
        events = await fluxx.events(3)
        assert events[-1].type == "fluxx.extractor.JobFailed"
        assert events[-1].data.error_message == job["statusMessage"]


async def test_a_job_that_outlives_its_deadline_fails_with_that_reason(tmp_path: Path, database_url: str) -> None:
    async with (
        ScriptedExtractor(not_ready=9999) as extractor,
        house(tmp_path, database_url=database_url, job_timeout_seconds=0.3) as fluxx,
    ):
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url)
        [job] = await fluxx.finished(await fluxx.upload(client))

        assert job["status"] == "Failed"
        assert "JOB_TIMEOUT_SECONDS" in job["statusMessage"]


async def test_a_submission_is_tried_again_and_succeeds(tmp_path: Path, database_url: str) -> None:
    async with ScriptedExtractor() as extractor, house(tmp_path, database_url=database_url) as fluxx:
        extractor.on_submit(Reply(503), Reply(drop=True), Reply(429, headers={"Retry-After": "0"}))
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url)
        [job] = await fluxx.finished(await fluxx.upload(client))

        assert job["status"] == "Succeeded"
        submissions = extractor.submissions()
        assert len(submissions) == 4
        assert {one.headers["Idempotency-Key"] for one in submissions} == {job["jobId"]}
        assert sum("again" in line["message"] for line in job["history"]) == 3


async def test_one_attempt_is_what_the_story_says(tmp_path: Path, database_url: str) -> None:
    async with (
        ScriptedExtractor() as extractor,
        house(tmp_path, database_url=database_url, max_submit_attempts=1) as fluxx,
    ):
        extractor.on_submit(Reply(503, b"overloaded"))
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url)
        [job] = await fluxx.finished(await fluxx.upload(client))

        assert job["status"] == "Failed"
        assert "503" in job["statusMessage"]
        assert "overloaded" in job["statusMessage"]
        assert len(extractor.submissions()) == 1


async def test_polls_that_fail_have_their_own_budget(tmp_path: Path, database_url: str) -> None:
    async with ScriptedExtractor() as extractor, house(tmp_path, database_url=database_url, max_poll_errors=2) as fluxx:
        extractor.on_poll(lambda _: Reply(500))
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url)
        [job] = await fluxx.finished(await fluxx.upload(client))

        assert job["status"] == "Failed"
        assert job["pollAttemptCount"] == 0
        assert "MAX_POLL_ERRORS" in job["statusMessage"]
        assert len(extractor.polls()) == 2


async def test_a_missing_key_fails_the_job_and_says_so(tmp_path: Path, database_url: str) -> None:
    async with ScriptedExtractor() as extractor, house(tmp_path, database_url=database_url) as fluxx:
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url, key=None)
        [job] = await fluxx.finished(await fluxx.upload(client))

        assert job["status"] == "Failed"
        assert "key" in job["statusMessage"]
        assert extractor.requests == []


async def test_an_error_reported_by_the_extractor_fails_the_job_in_its_words(tmp_path: Path, database_url: str) -> None:
    async with ScriptedExtractor() as extractor, house(tmp_path, database_url=database_url) as fluxx:
        report = {"isReady": True, "error": {"code": "password", "message": "The document is encrypted."}}
        extractor.on_poll(Reply(body=report))
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url)
        [job] = await fluxx.finished(await fluxx.upload(client))

        assert job["status"] == "Failed"
        assert "The document is encrypted." in job["statusMessage"]


@pytest.mark.parametrize("relative", [True, False])
async def test_a_result_behind_a_url_is_stored_byte_for_byte(tmp_path: Path, database_url: str, relative: bool) -> None:  # noqa: FBT001
    content = bytes(range(256)) * 4096
    async with (
        ScriptedExtractor() as extractor,
        ScriptedExtractor() as elsewhere,
        house(tmp_path, database_url=database_url) as fluxx,
    ):
        host = extractor if relative else elsewhere
        host.on_path("/results/7", Reply(body=content))
        url = "/results/7?sig=abc" if relative else f"{elsewhere.url}/results/7?sig=abc"
        extractor.on_poll(Reply(body={"isReady": True, "resultUrl": url}))
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url)
        [job] = await fluxx.finished(await fluxx.upload(client))

        assert job["status"] == "Succeeded"
        assert (tmp_path / "blobs" / job["resultPath"]).read_bytes() == content
        assert job["resultSize"] == len(content)
        fetched = host.requests[-1]
        assert ("Authorization" in fetched.headers) is relative


async def test_an_expired_result_url_is_asked_for_again(tmp_path: Path, database_url: str) -> None:
    async with ScriptedExtractor() as extractor, house(tmp_path, database_url=database_url) as fluxx:
        extractor.on_path("/old", Reply(403))
        extractor.on_path("/fresh", Reply(body=b"[]"))
        extractor.on_poll(
            Reply(body={"isReady": True, "resultUrl": "/old"}), Reply(body={"isReady": True, "resultUrl": "/fresh"})
        )
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url)
        [job] = await fluxx.finished(await fluxx.upload(client))

        assert job["status"] == "Succeeded"
        assert (tmp_path / "blobs" / job["resultPath"]).read_bytes() == b"[]"


async def test_a_job_past_its_deadline_is_asked_once_more(tmp_path: Path, database_url: str) -> None:
    async with (
        ScriptedExtractor(not_ready=1) as extractor,
        house(tmp_path, database_url=database_url, job_timeout_seconds=1) as fluxx,
    ):
        extractor.on_poll(Reply(body={"isReady": False}, headers={"Retry-After": "3600"}))
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url)
        [job] = await fluxx.finished(await fluxx.upload(client))

        assert len(extractor.polls()) == 2
        assert job["status"] == "Succeeded"


async def test_a_separate_polling_url_is_asked_with_the_key(tmp_path: Path, database_url: str) -> None:
    async with (
        ScriptedExtractor() as extraction,
        ScriptedExtractor(not_ready=0) as polling,
        house(tmp_path, database_url=database_url) as fluxx,
    ):
        polling.on_path("/results/7", Reply(body=b"[7]"))
        polling.on_poll(Reply(body={"isReady": True, "resultUrl": "/results/7"}))
        client = await fluxx.client_application()
        await fluxx.extractor(client, extraction.extraction_url, polling_url=f"{polling.url}/status")
        [job] = await fluxx.finished(await fluxx.upload(client))

        assert job["status"] == "Succeeded"
        assert [one.method for one in extraction.requests] == ["POST"]
        assert [one.path for one in polling.requests] == [f"/status/{job['jobId']}", "/results/7"]
        assert all("Authorization" in one.headers for one in polling.requests)


@pytest.mark.parametrize(
    "url", ["http://a:99999/x", "http://[::1", "//[", "http://169.254.169.254/latest", "file:///etc/passwd"]
)
async def test_a_result_url_that_leads_nowhere_good_fails_the_job(tmp_path: Path, database_url: str, url: str) -> None:
    async with ScriptedExtractor() as extractor, house(tmp_path, database_url=database_url) as fluxx:
        extractor.on_poll(lambda _: Reply(body={"isReady": True, "resultUrl": url}))
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url)
        [job] = await fluxx.finished(await fluxx.upload(client))

        assert job["status"] == "Failed"
        assert len(extractor.polls()) == 1
