"""Azure fails in part under a whole service with jobs running: it says what is wrong; nothing is lost or doubled.

One platform and one service go through all of it in turn; clients, extractors and files are each test's own.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import groupby
from typing import Any

import httpx
import msgspec
import psycopg
import pytest
import pytest_asyncio

from fluxx.messages import job_status
from servers.azurite.server import Azurite
from support.databases import Databases
from support.outages import Platform, is_ready, running_platform, told_throughout
from support.process import FluxxProcess, finished
from support.scripted import Reply, ScriptedExtractor

pytestmark = pytest.mark.asyncio(loop_scope="module")

FILES = 5
NAMES = ("text", "tables")
RESULT = b'{"total": 1.10, "id": 12345678901234567890}'
QUICK = {
    "POLL_INTERVAL_SECONDS": "0.2",
    "POLL_MAX_INTERVAL_SECONDS": "1",
    "RETRY_MAX_SECONDS": "2",
    # An error that is counted against a job fails it at once, and is seen.
    "MAX_SUBMIT_ATTEMPTS": "1",
    "MAX_POLL_ERRORS": "1",
}


class Case(msgspec.Struct, frozen=True):
    """A client application with extractors, whose jobs aren't ready until ``opened`` is set."""

    platform: Platform
    http: httpx.AsyncClient
    extractor: ScriptedExtractor
    opened: asyncio.Event
    client: str

    async def register(self, name: str) -> httpx.Response:
        wanted = {"name": name, "extractionUrl": self.extractor.extraction_url, "apiKey": "a-made-up-key"}
        return await self.http.post(f"/registration/{self.client}/extractors", json=wanted)

    async def send(self) -> httpx.Response:
        upload = {"file": ("invoice.pdf", b"%PDF made up", "application/pdf")}
        return await self.http.post("/files", params={"clientApplicationId": self.client}, files=upload)

    async def files(self, count: int = FILES) -> list[str]:
        answers = [await self.send() for _ in range(count)]
        assert {answer.status_code for answer in answers} == {202}
        return [answer.json()["fileId"] for answer in answers]

    async def polled(self, files: int = FILES) -> None:
        """Wait until every job of so many files was asked for."""
        wanted = files * len(NAMES)
        await self.extractor.wait_for(lambda: len({one.job_id for one in self.extractor.polls()}) >= wanted)

    async def succeeded(self, files: Sequence[str]) -> list[dict[str, Any]]:
        """Wait for the files' jobs: one for each extractor, each with its result."""
        jobs = [job for file_id in files for job in await finished(self.http, file_id, count=len(NAMES))]
        for job in jobs:
            lines = [line["status"] for line in job["history"]]
            assert [status for status, _ in groupby(lines)] == ["Queued", "Started", "Succeeded"], job
            assert lines.count("Succeeded") == 1, job
            assert (await self.http.get(f"/extractor/job/{job['jobId']}/result")).content == RESULT
        return jobs

    async def is_as_before(self, files: Sequence[str]) -> None:
        """Nothing is lost, nothing is doubled, and the service goes on."""
        self.opened.set()
        await is_ready(self.http)
        jobs = await self.succeeded([*files, *await self.files(1)])
        known = {job["jobId"] for job in jobs}
        assert {str(one.job_id) for one in self.extractor.submissions()} == known
        assert await asyncio.to_thread(self.platform.results, self.client) == {job["resultPath"] for job in jobs}
        await self.platform.all_accepted()
        await self._is_announced(known, {job["clientApplicationExtractorId"] for job in jobs})

    async def _is_announced(self, jobs: set[str], extractors: set[str]) -> None:
        """Each event of each job came in order, and under one id however often it came."""
        ids = defaultdict(set)
        for message in await self.platform.events(3 * len(jobs), of=extractors):
            event = job_status.decode(message.body)
            ids[event.subject, event.type.rpartition(".")[2]].add(message.message_id)
            assert message.message_id == str(event.id)
        order: dict[str, list[str]] = {}
        for job, kind in ids:
            order.setdefault(job, []).append(kind)
        assert order == {job: ["JobQueued", "JobStarted", "JobSucceeded"] for job in jobs}
        assert {len(each) for each in ids.values()} == {1}


@pytest.fixture(scope="module")
def database(databases: Databases) -> Iterator[str]:
    with databases.postgresql() as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(azurite: Azurite, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    async with running_platform(tmp_path_factory.mktemp("platform"), azurite) as platform:
        yield platform


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fluxx(
    platform: Platform, database: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[FluxxProcess]:
    environment = {**platform.exports, **QUICK, "DATABASE_URL": database}
    home = tmp_path_factory.mktemp("outages") / "home"
    async with FluxxProcess("up", "--port", "0", home=home, environment=environment) as fluxx:
        yield fluxx
        assert await fluxx.stop() == 0


@pytest_asyncio.fixture(loop_scope="module")
async def case(platform: Platform, fluxx: FluxxProcess) -> AsyncIterator[Case]:
    async with ScriptedExtractor(not_ready=1, result=RESULT) as extractor, fluxx.client() as http:
        opened = asyncio.Event()
        extractor.on_poll(lambda _: None if opened.is_set() else Reply(body={"isReady": False}))
        added = await http.post("/registration/client-applications", json={"name": "Archive"})
        case = Case(platform, http, extractor, opened, added.json()["clientApplicationId"])
        for name in NAMES:
            assert (await case.register(name)).status_code == 201
        yield case


async def test_a_broker_that_drops_every_connection(case: Case) -> None:
    files = await case.files()
    await case.polled()
    files += await case.files()  # and these are on their way
    with case.platform.broker_gateway.away():
        async with told_throughout(case.http, "bus"):
            assert (await case.send()).status_code == 503
            case.opened.set()
            await case.succeeded(files[:FILES])
    await case.is_as_before(files)


async def test_a_broker_that_takes_no_message(case: Case) -> None:
    files = await case.files()
    await case.polled()
    with case.platform.refusing_sends():
        case.opened.set()
        async with told_throughout(case.http, "bus", seconds=3):
            assert (await case.send()).status_code == 503
            await case.succeeded(files)
    await case.is_as_before(files)


async def test_a_broker_that_delivers_again_what_was_completed(case: Case, fluxx: FluxxProcess) -> None:
    accepted = fluxx.told("file_accepted")
    case.platform.redeliver(FILES)
    files = await case.files()
    await case.is_as_before(files)
    assert fluxx.told("file_accepted") - accepted >= 2 * FILES + 1


async def test_a_broker_that_loses_the_lock_of_a_message_that_is_dealt_with(
    case: Case, fluxx: FluxxProcess, database: str
) -> None:
    accepted = fluxx.told("file_accepted")
    async with await psycopg.AsyncConnection.connect(database) as connection:
        await connection.execute('LOCK TABLE extractor."Job"')  # nothing can be accepted until this is over
        files = await case.files(1)
        await case.platform.loses_a_lock()
    await case.is_as_before(files)
    assert fluxx.told("file_accepted") - accepted >= 3


async def test_a_storage_account_that_is_busy(case: Case) -> None:
    files = await case.files()
    await case.polled()
    with case.platform.storage.busy():
        case.opened.set()
        async with told_throughout(case.http, "blobs"):
            assert (await case.send()).status_code == 503
    await case.is_as_before(files)


async def test_a_vault_that_nobody_reaches(case: Case) -> None:
    files: list[str] = []
    async with case.platform.without_vault(), told_throughout(case.http, "secrets"):
        assert (await case.register("third")).status_code == 503
        files += await case.files()
        case.opened.set()
    assert not case.extractor.submissions(), "without its key an extractor can't be asked"
    await case.is_as_before(files)
