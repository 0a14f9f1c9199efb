"""The extractor-job API: story 14, listings, results, cancel and retry."""

import hashlib
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from fluxx.model.job import Extractor, Job
from fluxx.model.outcome import Extracted, NotReady, Refused, Submitted
from support.placed_jobs import happened, placed_job
from support.problems import problem_of
from support.service import House

pytestmark = pytest.mark.asyncio(loop_scope="module")

RESULT = b'{"total": 12345678901234567890.10, "b": 1, "a": 2}'
FIELDS = [
    "jobId",
    "fileId",
    "clientApplicationExtractorId",
    "status",
    "statusMessage",
    "createdAt",
    "updatedAt",
    "completedAt",
    "pollAttemptCount",
    "resultPath",
    "resultSize",
    "resultSha256",
    "history",
]


async def filed(fluxx: House) -> tuple[UUID, Extractor]:
    """A file and an extractor of its client application."""
    client = await fluxx.client_application()
    return await fluxx.upload(client), await fluxx.extractor(client, "https://ocr.example.com/extract")


async def succeeded(fluxx: House) -> Job:
    """A job with a stored result."""
    file_id, extractor = await filed(fluxx)
    job = await placed_job(fluxx.world, file_id, extractor, [Submitted("Taken (201)."), NotReady()])
    stored = await fluxx.world.blobs.write(job.result_path, RESULT, content_type="application/json")
    return await happened(fluxx.world, job, [Extracted(job.result_path, stored.size, stored.sha256)])


async def test_a_job_shows_all_that_happened_to_it(fluxx: House) -> None:
    job = await succeeded(fluxx)
    answer = await fluxx.http.get(f"/extractor/job/{job.job_id}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    shown = answer.json()
    assert list(shown) == FIELDS
    assert shown["jobId"] == str(job.job_id)
    assert shown["status"] == "Succeeded"
    assert shown["pollAttemptCount"] == 2
    assert shown["resultPath"] == f"results/{job.client_application_id}/{job.file_id}/{job.job_id}/result.json"
    assert shown["resultSize"] == len(RESULT)
    assert shown["resultSha256"] == hashlib.sha256(RESULT).hexdigest()
    assert datetime.fromisoformat(shown["completedAt"]) == job.completed_at
    assert [(line["status"], line["attemptNumber"]) for line in shown["history"]] == [
        ("Queued", 0),
        ("Started", 0),
        ("Started", 1),
        ("Succeeded", 2),
    ]
    assert set(shown["history"][0]) == {"status", "message", "attemptNumber", "timestamp"}


async def test_a_job_at_work_has_no_result(fluxx: House) -> None:
    job = await placed_job(fluxx.world, *await filed(fluxx))
    shown = (await fluxx.http.get(f"/extractor/job/{job.job_id}")).json()
    assert (shown["status"], shown["completedAt"], shown["resultPath"]) == ("Queued", None, None)
    problem = problem_of(await fluxx.http.get(f"/extractor/job/{job.job_id}/result"), 404)
    assert "Queued" in problem["detail"]


async def test_the_jobs_of_a_file_are_those_and_no_others(fluxx: House) -> None:
    file_id, extractor = await filed(fluxx)
    first = await placed_job(fluxx.world, file_id, extractor)
    second = await placed_job(fluxx.world, file_id, extractor, [Refused("No.")])
    await placed_job(fluxx.world, *await filed(fluxx))
    page = (await fluxx.http.get(f"/extractor/job/file/{file_id}")).json()
    assert [item["jobId"] for item in page["items"]] == [str(second.job_id), str(first.job_id)]
    assert [line["message"] for line in page["items"][0]["history"]] == ["Queued", "No."]
    assert page["nextCursor"] is None


async def test_pages_hold_every_job_once_newest_first(fluxx: House) -> None:
    file_id, extractor = await filed(fluxx)
    made = [await placed_job(fluxx.world, file_id, extractor) for _ in range(7)]
    for path, extra in (
        (f"/extractor/job/file/{file_id}", {}),
        ("/extractor/jobs", {"clientApplicationId": str(extractor.client_application_id)}),
    ):
        seen: list[str] = []
        cursor: str | None = None
        pages = 0
        while pages == 0 or cursor is not None:
            query: dict[str, Any] = {"limit": 3, **extra} | ({"cursor": cursor} if cursor else {})
            page = (await fluxx.http.get(path, params=query)).json()
            seen += [item["jobId"] for item in page["items"]]
            cursor = page["nextCursor"]
            pages += 1
        assert seen == [str(job.job_id) for job in reversed(made)]
        assert pages == 3
    whole = (await fluxx.http.get(f"/extractor/job/file/{file_id}", params={"limit": 7})).json()
    assert (len(whole["items"]), whole["nextCursor"]) == (7, None)


async def test_a_search_narrows_by_each_of_its_terms(fluxx: House) -> None:
    file_id, extractor = await filed(fluxx)
    other = await fluxx.extractor(extractor.client_application_id, "https://tables.example.com/")
    queued = await placed_job(fluxx.world, file_id, extractor)
    failed = await placed_job(fluxx.world, file_id, other, [Refused("No.")])
    mine = {"clientApplicationId": str(extractor.client_application_id)}
    of_other = {"clientApplicationExtractorId": str(other.client_application_extractor_id)}
    for query, expected in (
        (mine, [failed, queued]),
        (mine | {"status": "Queued"}, [queued]),
        (of_other, [failed]),
        (of_other | {"status": "Succeeded"}, []),
        ({"clientApplicationId": str(uuid4())}, []),
    ):
        page = (await fluxx.http.get("/extractor/jobs", params=query)).json()
        assert [item["jobId"] for item in page["items"]] == [str(job.job_id) for job in expected]


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/extractor/job/seven", "jobId"),
        ("/extractor/job/seven/result", "jobId"),
        ("/extractor/job/file/seven", "fileId"),
        ("/extractor/jobs?limit=0", "limit"),
        ("/extractor/jobs?limit=201", "limit"),
        ("/extractor/jobs?limit=many", "limit"),
        ("/extractor/jobs?limit=-1", "limit"),
        ("/extractor/jobs?status=Broken", "status"),
        ("/extractor/jobs?status=queued", "status"),
        ("/extractor/jobs?clientApplicationId=7", "clientApplicationId"),
        ("/extractor/jobs?clientApplicationExtractorId=%00", "clientApplicationExtractorId"),
        ("/extractor/jobs?cursor=", "cursor"),
        ("/extractor/jobs?cursor=seven", "cursor"),
        ("/extractor/jobs?cursor=%F0%9F%98%80", "cursor"),
        ("/extractor/jobs?cursor=" + "f" * 32, "cursor"),
        ("/extractor/jobs?cursor=" + "A" * 200, "cursor"),
    ],
)
async def test_malformed_ids_cursors_and_limits_are_named(fluxx: House, path: str, field: str) -> None:
    problem_of(await fluxx.http.get(path), 400, field=field)


async def test_unknown_jobs_and_files_are_not_found(fluxx: House) -> None:
    for path in (f"/extractor/job/{uuid4()}", f"/extractor/job/{uuid4()}/result", f"/extractor/job/file/{uuid4()}"):
        problem_of(await fluxx.http.get(path), 404)
    for verb in ("cancel", "retry"):
        problem_of(await fluxx.http.post(f"/extractor/job/{uuid4()}/{verb}"), 404)
        problem_of(await fluxx.http.post(f"/extractor/job/seven/{verb}"), 400, field="jobId")


async def test_a_result_comes_byte_for_byte_and_in_parts(fluxx: House) -> None:
    job = await succeeded(fluxx)
    path = f"/extractor/job/{job.job_id}/result"
    answer = await fluxx.http.get(path)
    assert (answer.status_code, answer.content) == (200, RESULT)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["etag"] == f'"{job.result_sha256}"'
    part = await fluxx.http.get(path, headers={"range": "bytes=10-19"})
    assert (part.status_code, part.content) == (206, RESULT[10:20])
    unchanged = await fluxx.http.get(path, headers={"if-none-match": answer.headers["etag"]})
    assert unchanged.status_code == 304
    assert (await fluxx.http.head(path)).headers["content-length"] == str(len(RESULT))


async def test_cancel_fails_a_live_job_and_no_other(fluxx: House) -> None:
    job = await placed_job(fluxx.world, *await filed(fluxx), [Submitted("Taken (201).")])
    answer = await fluxx.http.post(f"/extractor/job/{job.job_id}/cancel")
    assert answer.status_code == 202
    assert answer.json()["status"] == "Failed"
    assert answer.json()["history"][-1]["status"] == "Failed"
    problem_of(await fluxx.http.post(f"/extractor/job/{job.job_id}/cancel"), 409)


async def test_retry_queues_one_new_job_for_a_final_one(fluxx: House) -> None:
    file_id, extractor = await filed(fluxx)
    live = await placed_job(fluxx.world, file_id, extractor)
    problem_of(await fluxx.http.post(f"/extractor/job/{live.job_id}/retry"), 409)
    final = await placed_job(fluxx.world, file_id, extractor, [Refused("No.")])
    first = await fluxx.http.post(f"/extractor/job/{final.job_id}/retry")
    again = await fluxx.http.post(f"/extractor/job/{final.job_id}/retry")
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json()
    assert first.json()["status"] == "Queued"
    assert first.json()["fileId"] == str(file_id)
    assert (await fluxx.http.get(first.headers["location"])).json() == first.json()
