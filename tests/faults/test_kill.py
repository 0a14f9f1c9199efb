"""``kill -9`` at seeded moments: nothing is lost, stuck or doubled, and every job is explained."""

import random
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from support.process import FluxxProcess, finished
from support.scripted import ScriptedExtractor

FILES = 12
KILLS = 4
QUICK = {
    "POLL_INTERVAL_SECONDS": "0.1",
    "POLL_MAX_INTERVAL_SECONDS": "0.3",
    "LEASE_SECONDS": "1",
    "RETRY_BASE_SECONDS": "0.1",
    "RETRY_MAX_SECONDS": "0.3",
}


@pytest.mark.parametrize("seed", [1, 2])
async def test_a_service_killed_again_and_again_finishes_every_job_once(
    tmp_path: Path, database_url: str, seed: int
) -> None:
    chance = random.Random(seed)
    home = tmp_path / "home"
    async with (
        ScriptedExtractor(not_ready=3) as extractor,
        FluxxProcess("up", "--port", "0", home=home, environment=QUICK | {"DATABASE_URL": database_url}) as fluxx,
    ):
        files = await _given_files(fluxx, extractor)
        for _ in range(KILLS):
            await _some_progress(extractor, chance)
            await fluxx.kill()
            await fluxx.start()
        async with fluxx.client() as http:
            jobs = [job for file_id in files for job in await finished(http, file_id, count=2)]
        _check(jobs, extractor, home)
        assert await fluxx.stop() == 0


async def _given_files(fluxx: FluxxProcess, extractor: ScriptedExtractor) -> list[str]:
    async with fluxx.client() as http:
        answer = await http.post("/registration/client-applications", json={"name": "Invoices"})
        client = answer.json()["clientApplicationId"]
        for name in ("text", "tables"):
            wanted = {"name": name, "extractionUrl": extractor.extraction_url, "apiKey": "a-made-up-key"}
            assert (await http.post(f"/registration/{client}/extractors", json=wanted)).status_code == 201
        files = []
        for number in range(FILES):
            upload = {"file": (f"{number}.pdf", b"%PDF", "application/pdf")}
            answer = await http.post("/files", params={"clientApplicationId": client}, files=upload)
            files.append(answer.json()["fileId"])
        return files


async def _some_progress(extractor: ScriptedExtractor, chance: random.Random) -> None:
    """Return after a number of further requests that the seed chose, at the very moment of the last."""
    wanted = len(extractor.requests) + chance.randint(1, 12)
    with suppress(TimeoutError):  # all jobs may be through already
        await extractor.wait_for(lambda: len(extractor.requests) >= wanted)


def _check(jobs: list[dict[str, Any]], extractor: ScriptedExtractor, home: Path) -> None:
    assert Counter(job["status"] for job in jobs) == {"Succeeded": 2 * FILES}
    for job in jobs:
        assert (home / "blobs" / job["resultPath"]).read_bytes() == extractor.result
        assert [line["status"] for line in job["history"]].count("Succeeded") == 1
        assert [line["status"] for line in job["history"]].count("Queued") == 1
    known = {job["jobId"] for job in jobs}
    assert {str(one.job_id) for one in extractor.submissions()} == known
    assert all(one.headers["Idempotency-Key"] == str(one.job_id) for one in extractor.submissions())
