"""The simulator: what it is told to pretend, it pretends, and the same seed pretends the same."""

import hashlib
import json
from collections import Counter
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from fluxx.errors import Misconfigured
from fluxx.extractors.run import serve
from fluxx.extractors.simulator import Simulation
from fluxx.telemetry import Facts
from support.extractors import Driver, driving

FILE = "http://127.0.0.1/never-fetched"


def simulating(**settings: Any) -> AbstractAsyncContextManager[Driver]:
    return driving("simulator", simulation=Simulation(**settings))


async def take(driver: Driver, job_id: str) -> list[int]:
    """Submit until the job is taken; return the statuses."""
    statuses = []
    while not statuses or statuses[-1] == 503:
        statuses.append((await driver.post("simulator", {"fileUrl": FILE, "jobId": job_id})).status)
        assert len(statuses) < 100
    return statuses


async def ask(driver: Driver, job_id: str) -> tuple[int, Any]:
    """Poll until the simulator really answers; return how many faults came before, and the answer."""
    for faults in range(100):
        answer = await driver.poll("simulator", job_id)
        if answer.status != 503:
            return faults, await answer.json()
    raise AssertionError("100 faults in a row")


async def test_a_job_is_ready_after_the_wanted_number_of_early_polls() -> None:
    async with simulating(not_ready=2) as driver:
        assert await take(driver, "1") == [201]
        answers = [(await ask(driver, "1"))[1] for _ in range(4)]
        assert [answer["isReady"] for answer in answers] == [False, False, True, True]
        assert await take(driver, "1") == [409]


async def test_a_job_takes_the_wanted_time_and_says_how_long() -> None:
    async with simulating(min_seconds=7, max_seconds=9) as driver:
        await take(driver, "1")
        answer = await driver.poll("simulator", "1")
        assert await answer.json() == {"isReady": False}
        assert 7 <= int(answer.headers["Retry-After"]) <= 9


async def test_the_wanted_share_of_jobs_fails() -> None:
    async with simulating(failure_rate=0.3) as driver:
        ended = Counter()
        for number in range(200):
            await take(driver, str(number))
            ended[(await ask(driver, str(number)))[1].get("error", {}).get("code")] += 1
        assert set(ended) == {None, "simulated_failure"}
        assert 40 <= ended["simulated_failure"] <= 80


async def test_the_wanted_share_of_requests_meets_a_fault_before_or_after_the_job_is_taken() -> None:
    async with simulating(fault_rate=0.5) as driver:
        last = {(await take(driver, str(number)))[-1] for number in range(100)}
        assert last == {201, 409}  # 409: the job was taken although the answer was a fault
        faults = sum([(await ask(driver, str(number)))[0] for number in range(100)])
        assert 50 <= faults <= 170


async def test_everything_fails_if_it_should() -> None:
    async with simulating(fault_rate=1) as driver:
        answer = await driver.post("simulator", {"fileUrl": FILE, "jobId": "1"})
        assert (answer.status, answer.content_type) == (503, "application/problem+json")


@pytest.mark.parametrize("size", [0, 1, 100, 1023, 1024, 70_000])
async def test_a_result_has_the_wanted_size_and_is_json(size: int) -> None:
    async with simulating(result_bytes=size) as driver:
        await take(driver, "1")
        answer = await driver.poll("simulator", "1")
        raw = (await answer.text()).removeprefix('{"isReady":true,"result":').removesuffix("}")
        assert json.loads(raw)["jobId"] == "1"
        assert len(raw) == size or (size < 60 and len(raw) < 60)


async def test_a_large_result_is_streamed_by_url() -> None:
    async with simulating(result_bytes=5_000_001) as driver:
        await take(driver, "1")
        ready = (await ask(driver, "1"))[1]
        fetched = await driver.fetch(ready["resultUrl"])
        assert fetched.content_length == 5_000_001
        content = await fetched.text()
        assert len(content) == 5_000_001
        assert json.loads(content)["kind"] == "simulator"


async def test_a_result_of_gigabytes_is_made_while_it_is_read() -> None:
    async with simulating(result_bytes=3 * 2**30) as driver:
        await take(driver, "1")
        ready = (await ask(driver, "1"))[1]
        async with driver.session.get(driver.running.url + ready["resultUrl"]) as answer:
            assert answer.content_length == 3 * 2**30
            assert (await answer.content.read(16)).startswith(b'{"kind"')


async def test_the_same_seed_pretends_the_same_and_another_something_else() -> None:
    assert await story(seed=7) == await story(seed=7)
    assert await story(seed=7) != await story(seed=8)


async def story(seed: int) -> list[object]:
    async with simulating(seed=seed, failure_rate=0.4, fault_rate=0.4, not_ready=1) as driver:
        told: list[object] = []
        for number in range(20):
            told.append(await take(driver, str(number)))
            told.extend([await ask(driver, str(number)) for _ in range(2)])
        return [hashlib.sha256(json.dumps(part).encode()).hexdigest() for part in told]


@pytest.mark.parametrize(
    "settings",
    [
        {"min_seconds": 2, "max_seconds": 1},
        {"min_seconds": -1},
        {"failure_rate": 1.1},
        {"fault_rate": -0.1},
        {"not_ready": -1},
        {"result_bytes": -1},
        {"max_seconds": float("nan")},
    ],
)
async def test_settings_that_make_no_sense_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(Misconfigured):
        async with serve(["simulator"], facts=Facts(), simulation=Simulation(**settings)):
            pass
