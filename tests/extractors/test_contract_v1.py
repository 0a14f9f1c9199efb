"""The extractor's side of contract v1: submissions, polls, keys, limits."""

import asyncio
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fluxx.errors import Misconfigured
from fluxx.extractors.jobs import Bounds
from fluxx.extractors.run import serve
from fluxx.extractors.samples import sample_files
from fluxx.telemetry import EXTRACTION_FAILED, EXTRACTION_FINISHED, EXTRACTION_WORKER_STARTED, Facts
from support.extractors import DOCUMENTS, driving
from support.scripted import Answering, Reply

INVOICE = sample_files()[0]
PROBLEM = "application/problem+json"
FINISHED = (EXTRACTION_FINISHED, EXTRACTION_FAILED)


async def test_a_job_is_taken_once_and_the_second_time_is_a_conflict() -> None:
    async with driving("text") as driver:
        driver.files.on_path("/slow", Reply(hang=True))
        submission = {"fileUrl": driver.files.url + "/slow", "jobId": "a-1"}
        first = await driver.post("text", submission)
        assert (first.status, await first.json()) == (201, {"jobId": "a-1"})
        assert first.headers["Location"] == "/text/jobs/a-1"
        second = await driver.post("text", submission)
        assert (second.status, second.content_type) == (409, PROBLEM)


async def test_a_finished_job_is_still_a_conflict() -> None:
    async with driving("text") as driver:
        job_id = await driver.submit("text", driver.put(b"Hello", content_type="text/plain"))
        assert (await driver.finished("text", job_id))["result"]["text"] == "Hello"
        again = await driver.post("text", {"fileUrl": driver.files.url, "jobId": job_id})
        assert again.status == 409


async def test_the_same_job_id_means_another_job_to_another_kind() -> None:
    async with driving("text", "tables") as driver:
        url = driver.put(INVOICE.read_bytes())
        for kind in ("text", "tables"):
            assert (await driver.post(kind, {"fileUrl": url, "jobId": "same"})).status == 201
        assert (await driver.finished("text", "same"))["result"]["kind"] == "text"
        assert (await driver.finished("tables", "same"))["result"]["kind"] == "tables"


async def test_a_job_at_work_is_not_ready_and_says_when_to_ask_again() -> None:
    async with driving("text") as driver:
        driver.files.on_path("/slow", Reply(hang=True))
        job_id = await driver.submit("text", driver.files.url + "/slow")
        answer = await driver.poll("text", job_id)
        assert (answer.status, await answer.json()) == (200, {"isReady": False})
        assert 1 <= int(answer.headers["Retry-After"]) <= 10


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {},
        {"fileUrl": "http://127.0.0.1/a"},
        {"jobId": "1"},
        {"fileUrl": "file:///etc/passwd", "jobId": "1"},
        {"fileUrl": 5, "jobId": "1"},
        {"fileUrl": "http://127.0.0.1/a", "jobId": ""},
        {"fileUrl": "http://127.0.0.1/a", "jobId": "../1"},
    ],
)
async def test_a_malformed_submission_is_a_bad_request(body: Any) -> None:
    async with driving("simulator") as driver:
        answer = await driver.post("simulator", body)
        assert (answer.status, answer.content_type) == (400, PROBLEM)
        assert (await answer.json())["detail"]


async def test_what_is_not_json_is_a_bad_request_and_what_is_huge_is_refused() -> None:
    async with driving("simulator") as driver:
        url = driver.running.extraction_url("simulator")
        for body, status in ((b"{", 400), (b"\xff", 400), (b" " * 100_000, 413)):
            async with driver.session.post(url, data=body) as answer:
                assert (answer.status, answer.content_type) == (status, PROBLEM)


async def test_an_unknown_job_kind_or_method_is_a_problem() -> None:
    async with driving("text") as driver:
        assert (await driver.poll("text", "nobody")).status == 404
        assert (await driver.poll("tables", "nobody")).status == 404
        async with driver.session.delete(driver.running.extraction_url("text")) as answer:
            assert (answer.status, answer.content_type) == (405, PROBLEM)
            assert "POST" in answer.headers["Allow"]


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer wrong", "Basic s3cret", "s3cret", "Bearer s3cret\u00e9"]
)
async def test_without_the_key_nothing_is_told(header: str | None) -> None:
    async with driving("simulator", api_key="s3cret") as driver:
        headers = {} if header is None else {"Authorization": header}
        submission = {"fileUrl": "http://127.0.0.1/a", "jobId": "1"}
        for answer in (
            await driver.post("simulator", submission, headers=headers),
            await driver.poll("simulator", "1", headers=headers),
        ):
            assert (answer.status, answer.content_type) == (401, PROBLEM)
            assert answer.headers["WWW-Authenticate"] == "Bearer"
            assert "s3cret" not in await answer.text()


async def test_with_the_key_all_is_told_and_the_health_needs_none() -> None:
    async with driving("simulator", api_key="s3cret") as driver:
        headers = {"Authorization": "Bearer s3cret"}
        submission = {"fileUrl": "http://127.0.0.1/a", "jobId": "1"}
        assert (await driver.post("simulator", submission, headers=headers)).status == 201
        assert (await (await driver.poll("simulator", "1", headers=headers)).json())["isReady"] is True
        assert (await driver.fetch("/healthz")).status == 200


async def test_a_large_result_comes_from_a_url_that_needs_no_key() -> None:
    async with driving("text", bounds=Bounds(max_inline_bytes=1000), api_key="k") as driver:
        headers = {"Authorization": "Bearer k"}
        url = driver.put(b"word " * 1000, content_type="text/plain")
        assert (await driver.post("text", {"fileUrl": url, "jobId": "1"}, headers=headers)).status == 201
        await driver.heard.wait_for_any(*FINISHED)
        ready = await (await driver.poll("text", "1", headers=headers)).json()
        assert ready.keys() == {"isReady", "resultUrl"}
        fetched = await driver.fetch(ready["resultUrl"])
        assert fetched.content_type == "application/json"
        assert fetched.content_length == len((await fetched.text()).encode())
        assert (await fetched.json())["text"].startswith("word word")
        assert (await driver.fetch("/text/results/guessed")).status == 404


async def test_finished_jobs_are_forgotten_beyond_the_count_and_their_results_with_them() -> None:
    async with driving("text", bounds=Bounds(max_kept_jobs=1, max_inline_bytes=1)) as driver:
        urls = []
        for number in range(2):
            job_id = await driver.submit("text", driver.put(b"Hello", content_type="text/plain"))
            urls.append((await driver.finished("text", job_id))["resultUrl"])
            assert number or (await driver.fetch(urls[0])).status == 200
        assert [(await driver.fetch(url)).status for url in urls] == [404, 200]


async def test_a_finished_job_is_forgotten_after_its_while() -> None:
    async with driving("text", bounds=Bounds(kept_seconds=0)) as driver:
        job_id = await driver.submit("text", driver.put(b"Hello", content_type="text/plain"))
        await driver.heard.wait_for_any(*FINISHED)
        assert (await driver.poll("text", job_id)).status == 404


async def test_too_many_live_jobs_are_refused_for_now() -> None:
    async with driving("text", bounds=Bounds(max_live_jobs=1)) as driver:
        driver.files.on_path("/slow", Reply(hang=True))
        submission = {"fileUrl": driver.files.url + "/slow", "jobId": "1"}
        assert (await driver.post("text", submission)).status == 201
        answer = await driver.post("text", submission | {"jobId": "2"})
        assert (answer.status, answer.content_type, answer.headers["Retry-After"]) == (503, PROBLEM, "5")


@pytest.mark.parametrize(
    ("replies", "seconds", "said"),
    [
        ((Reply(404),), 60, "could not be downloaded: the answer was 404 Not Found."),
        ((Reply(503),) * 3, 60, "could not be downloaded: the answer was 503 Service Unavailable."),
        ((lambda _request: Reply(drop=True),), 60, "could not be downloaded: the connection broke"),
        ((Reply(body=b"x" * 2000),), 60, "larger than 1000 bytes"),
        ((Reply(hang=True),), 1, "took longer than 1 s"),
    ],
)
async def test_a_file_that_can_not_be_fetched_fails_the_job_and_its_url_stays_secret(
    replies: Sequence[Reply | Answering], seconds: float, said: str
) -> None:
    async with driving("text", bounds=Bounds(max_file_bytes=1000, download_seconds=seconds)) as driver:
        driver.files.on_path("/file", *replies)
        job_id = await driver.submit("text", driver.files.url + "/file?signature=secret")
        error = (await driver.finished("text", job_id))["error"]
        assert said in error["message"]
        assert "secret" not in json.dumps(error) + str(driver.heard.of(EXTRACTION_FAILED))


async def test_a_passing_fault_of_the_file_server_is_survived() -> None:
    async with driving("text") as driver:
        hello = Reply(body=b"Hello", headers={"Content-Type": "text/plain"})
        driver.files.on_path("/file", Reply(503), Reply(truncate=True, body=b"Hel"), hello)
        job_id = await driver.submit("text", driver.files.url + "/file")
        assert (await driver.finished("text", job_id))["result"]["text"] == "Hello"


async def test_a_port_in_use_is_one_clear_line() -> None:
    async with driving("simulator") as driver:
        port = int(driver.running.url.rpartition(":")[2])
        with pytest.raises(Misconfigured, match=f"^Port {port} of 127.0.0.1 is in use.$"):
            async with serve(["simulator"], facts=Facts(), port=port):
                pass


async def test_leaving_the_server_leaves_no_file_and_no_process_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # the documented way to choose the place
    async with asyncio.timeout(60), driving("text") as driver:
        driver.files.on_path("/slow", Reply(hang=True))
        await driver.submit("text", driver.files.url + "/slow")
        await driver.extract("text", DOCUMENTS / "letter.docx")
        assert contents(tmp_path)
        [started] = driver.heard.of(EXTRACTION_WORKER_STARTED)
    assert not contents(tmp_path)
    with pytest.raises(ProcessLookupError):
        os.kill(started["pid"], 0)


def contents(folder: Path) -> list[Path]:
    return list(folder.iterdir())
