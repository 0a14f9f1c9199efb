"""What a user sees after a fault at each named point: a process killed, one frozen past its lease, an
exception, and the database gone. Whatever it was, the file ends as a result and three events.

All cases run side by side (a relay that vanished is replaced after 15 seconds), then each is looked at.
"""

import asyncio
import signal
import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any, TypeAlias

import httpx
import msgspec
import pytest

from contracts.blobs import described
from fluxx.messages import job_status
from fluxx.ports.blobs import Stored
from fluxx.telemetry import CLAIM_LOST, EVENTS_PUBLISHED, JOB_STARTED
from fluxx.wiring import World
from support import points
from support.databases import Databases
from support.eventually import eventually
from support.points import AFTER_SUBMIT, POINTS, with_points
from support.scripted import Received, Reply, ScriptedExtractor
from support.service import house
from support.strikes import Gone, Once, failing
from support.struck import BOUND, STRIKE_NOW, STRUCK, StruckProcess

KILL, FREEZE, EXCEPTION, GONE = "killed", "frozen", "exception", "database gone"
STRIKES = (KILL, FREEZE, EXCEPTION, GONE)
SIGNALS = {KILL: signal.SIGKILL, FREEZE: signal.SIGSTOP}
AT_ONCE = 20

RESULT = b'{"pages": "' + b"x" * (2 * 2**20) + b'"}'
QUICK: dict[str, Any] = {
    "poll_interval_seconds": 0.05,
    "poll_max_interval_seconds": 0.1,
    "retry_base_seconds": 0.05,
    "retry_max_seconds": 0.1,
    "lease_seconds": 3.0,
    "egress_allowed_networks": "127.0.0.0/8",
}
UNKNOWN = {AFTER_SUBMIT, points.AFTER_ANSWER, points.BEFORE_COMMIT}
"""Where a job was submitted and nobody wrote that down: it is submitted again, under the same id."""

SENT_TWICE = {
    KILL: UNKNOWN,
    FREEZE: UNKNOWN | {points.AFTER_CLAIM, points.BEFORE_SUBMIT},  # by who took over, and by who came late
    EXCEPTION: UNKNOWN,
    GONE: set[str](),  # the outcome waits for the database to come back
}
EITHER = {
    (strike, point)
    for strike in (KILL, FREEZE)
    for point in (points.BEFORE_PUBLISH, points.AFTER_PUBLISH, points.BEFORE_MARK)
}
"""Where the relay is struck while the job goes on beside it: its submission may be lost or not."""

LATE = {
    points.AFTER_COMMIT: JOB_STARTED,
    points.BEFORE_PUBLISH: EVENTS_PUBLISHED,
    points.AFTER_PUBLISH: EVENTS_PUBLISHED,
    points.BEFORE_MARK: EVENTS_PUBLISHED,
}
"""What a process tells when it goes on after its freeze; elsewhere it finds its claim lost."""

EVENTS = 'SELECT "Body" FROM "BusMessage" WHERE "Topic" = \'job-status\' ORDER BY "BusMessageID"'
Case: TypeAlias = tuple[str, str]


class Aftermath(msgspec.Struct, frozen=True):
    """The job and its result, the job of a file that came after, their events, what the extractor got."""

    job: dict[str, Any]
    result: Stored
    following: dict[str, Any]
    events: list[job_status.Envelope]
    submissions: Sequence[Received]


@pytest.fixture(scope="module")
def aftermaths(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, databases: Databases
) -> Iterator[dict[Case, Any]]:
    """What became of each case that is asked for, or what went wrong in it."""
    items: list[Any] = [item for item in request.session.items if item.path == request.path]
    cases = [(item.callspec.params["strike"], item.callspec.params["point"]) for item in items]
    homes = {case: tmp_path_factory.mktemp("-".join(case).replace(" ", "-")) for case in cases}
    with ExitStack() as stack:
        for home in homes.values():
            stack.enter_context(databases.sqlite(home))
        yield asyncio.run(_all(homes))


@pytest.mark.parametrize("strike", STRIKES)
@pytest.mark.parametrize("point", POINTS)
def test_the_file_ends_as_a_result_and_three_events(aftermaths: dict[Case, Any], point: str, strike: str) -> None:
    seen = aftermaths[strike, point]
    if isinstance(seen, BaseException):
        raise seen
    assert isinstance(seen, Aftermath)
    job_id = seen.job["jobId"]
    assert seen.job["status"] == seen.following["status"] == "Succeeded"
    assert seen.result == described(RESULT)
    way = [line["status"] for line in seen.job["history"]]
    assert list(dict.fromkeys(way)) == ["Queued", "Started", "Succeeded"]
    assert way == sorted(way, key=["Queued", "Started", "Succeeded"].index)
    assert way.count("Succeeded") == 1
    told = [event.type.rpartition(".")[2] for event in seen.events if event.subject == job_id]
    assert told == ["JobQueued", "JobStarted", "JobSucceeded"]
    submissions = [one.headers["Idempotency-Key"] for one in seen.submissions if str(one.job_id) == job_id]
    assert set(submissions) == {job_id}
    count = 2 if point in SENT_TWICE[strike] else 1
    assert len(submissions) in ((1, 2) if (strike, point) in EITHER else (count,))


async def _all(homes: Mapping[Case, Path]) -> dict[Case, Any]:
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(strike: str, point: str, home: Path) -> Aftermath:
        async with turns, asyncio.timeout(BOUND):
            return await (_in_one_process if strike in (EXCEPTION, GONE) else _in_processes)(strike, point, home)

    ends = await asyncio.gather(*(one(*case, home) for case, home in homes.items()), return_exceptions=True)
    return dict(zip(homes, ends, strict=True))


async def _in_one_process(strike: str, point: str, home: Path) -> Aftermath:
    gone = Gone()
    once = Once(point, gone.begin if strike == GONE else failing)

    def around(world: World) -> World:
        gone.at(world)
        return with_points(world, once.reached)

    async with _extractor(once) as extractor, house(home, around=around, **QUICK) as fluxx:
        client = await _register(fluxx.http, extractor)
        await _upload(fluxx.http, client)
        await _finished(fluxx.http, 1)
        assert once.struck.is_set()
        return await _seen(fluxx.http, client, extractor, home)


async def _in_processes(strike: str, point: str, home: Path) -> Aftermath:
    first = StruckProcess(home, point=point, strike=SIGNALS[strike], **QUICK)

    async def from_outside() -> None:
        first.send(STRIKE_NOW)
        await first.told(STRUCK)

    async with _extractor(Once(point, from_outside)) as extractor, first, first.client() as http:
        client = await _register(http, extractor)
        uploading = asyncio.create_task(_upload(http, client))
        await first.told(STRUCK)
        if strike == KILL:
            await first.ended()
        async with StruckProcess(home, **QUICK) as second, second.client() as other:
            await _finished(other, 1)
            await _events(home, 3)
            if strike == FREEZE:
                before = len(first.lines())
                first.send(signal.SIGCONT)
                await first.told(LATE.get(point, CLAIM_LOST).name, beyond=before)
            with suppress(httpx.TransportError):
                await uploading
            return await _seen(http if strike == FREEZE else other, client, extractor, home)


@asynccontextmanager
async def _extractor(once: Once) -> AsyncIterator[ScriptedExtractor]:
    """Give an extractor that is ready at the second poll, with a result of some megabytes behind a URL."""

    async def submitted(_request: Received) -> Reply | None:
        try:
            await once.reached(AFTER_SUBMIT)
        except RuntimeError:
            return Reply(drop=True)
        return None

    async with ScriptedExtractor() as extractor:
        extractor.on_submit(submitted)
        extractor.on_poll(Reply(body={"isReady": False}), lambda _: Reply(body={"isReady": True, "resultUrl": "/r"}))
        extractor.on_path("/r", lambda _: Reply(body=RESULT))
        yield extractor


async def _register(http: httpx.AsyncClient, extractor: ScriptedExtractor) -> str:
    answer = await http.post("/registration/client-applications", json={"name": "Invoices"})
    client: str = answer.json()["clientApplicationId"]
    wanted = {"name": "ocr", "extractionUrl": extractor.extraction_url, "apiKey": "a-made-up-key"}
    assert (await http.post(f"/registration/{client}/extractors", json=wanted)).status_code == 201
    return client


async def _upload(http: httpx.AsyncClient, client: str) -> None:
    content = {"file": ("invoice.pdf", b"%PDF", "application/pdf")}
    answer = await http.post("/files", params={"clientApplicationId": client}, files=content)
    assert answer.status_code == 202


async def _finished(http: httpx.AsyncClient, count: int) -> list[dict[str, Any]]:
    """Return the jobs, oldest first, once ``count`` are final."""

    async def look() -> list[dict[str, Any]] | None:
        answer = await http.get("/extractor/jobs")
        if answer.status_code == 503:
            return None  # the database is gone
        jobs: list[dict[str, Any]] = answer.json()["items"]
        return jobs[::-1] if sum(job["completedAt"] is not None for job in jobs) >= count else None

    return await eventually(look, bound=BOUND)


async def _events(home: Path, count: int) -> list[job_status.Envelope]:
    """Return the events on the topic once there are ``count``."""

    async def look() -> list[job_status.Envelope] | None:
        with closing(sqlite3.connect(home / "fluxx.db")) as connection:
            rows = connection.execute(EVENTS).fetchall()
        return [job_status.decode(body) for (body,) in rows] if len(rows) >= count else None

    return await eventually(look, bound=BOUND)


async def _seen(http: httpx.AsyncClient, client: str, extractor: ScriptedExtractor, home: Path) -> Aftermath:
    """Hand in another file, and look at both once that is through."""
    await _upload(http, client)
    job, following = await _finished(http, 2)
    result = await http.get(f"/extractor/job/{job['jobId']}/result")
    events = await _events(home, 6)
    return Aftermath(job, described(result.content), following, events, extractor.submissions())
