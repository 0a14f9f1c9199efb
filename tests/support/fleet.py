"""Many workers and the APIs, each a process of its own, over one database and one folder; and harm done to them."""

import asyncio
import random
from collections import Counter
from collections.abc import Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import aiohttp
import httpx
import msgspec

from fluxx.adapters.sql.database import SqlDatabase
from fluxx.adapters.sql.engine import make_engine
from fluxx.clock import SystemClock
from fluxx.messages import job_status
from fluxx.messages.job_status import Envelope
from fluxx.ports.bus import Recorded
from fluxx.telemetry import Facts
from support.process import FluxxProcess
from support.scripted import Received, Reply, ScriptedExtractor

EXTRACTORS: Final = ("text", "tables")
FINAL_EVENTS: Final = {"fluxx.extractor.JobSucceeded", "fluxx.extractor.JobFailed"}
CONTENT: Final = b"%PDF-1.7 made up"
LOOK_EVERY: Final = 0.2
AT_ONCE: Final = 8
BEYOND: Final = 1.25
"""How long a worker is frozen, in leases."""


class Harm(msgspec.Struct):
    """What was done to the workers."""

    kills: int = 0
    freezes: int = 0


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the jobs. ``repeated`` counts submissions beyond each job's first."""

    jobs: int
    submissions: int
    repeated: int
    claims_lost: int


class Fleet:
    """``fluxx worker`` some times, and ``fluxx serve`` once for each API; ``lease`` in seconds."""

    def __init__(self, home: Path, database_url: str, *, workers: int = 3, lease: float = 1.0, seed: int = 1) -> None:
        self.harm = Harm()
        self._home = home
        self._url = database_url
        self._lease = lease
        self._chance = random.Random(seed)
        self._environment = {
            "DATABASE_URL": database_url,
            "LEASE_SECONDS": f"{lease}",
            "POLL_INTERVAL_SECONDS": "0.1",
            "POLL_MAX_INTERVAL_SECONDS": "0.3",
            "RETRY_BASE_SECONDS": "0.1",
            "RETRY_MAX_SECONDS": "0.3",
        }
        self._apis = {
            role: self._process("serve", role, "--port", "0", name=role) for role in ("registration", "files", "jobs")
        }
        self._workers: list[FluxxProcess] = []
        self._count = workers
        self._hurt: dict[FluxxProcess, asyncio.Task[None]] = {}
        self._reader: aiohttp.ClientSession

    def _process(self, *command: str, name: str) -> FluxxProcess:
        return FluxxProcess(*command, home=self._home, environment=self._environment, name=name)

    async def __aenter__(self) -> Self:
        self._reader = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(60))
        try:
            await self._start()
        except BaseException as error:
            await self.__aexit__(type(error), error, None)
            raise
        return self

    async def _start(self) -> None:
        await asyncio.gather(*(api.start() for api in self._apis.values()))
        self._environment |= {
            "REGISTRATION_URL": self._apis["registration"].url,
            "PUBLIC_URL": self._apis["files"].url,
        }
        self._workers = [self._process("worker", name=f"worker-{number}") for number in range(self._count)]
        await asyncio.gather(*(worker.start() for worker in self._workers))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.healed()
        await self._reader.close()
        for process in [*self._workers, *self._apis.values()]:
            await process.__aexit__(kind, error, trace)

    async def given_files(self, count: int, extractor: ScriptedExtractor) -> list[str]:
        """Register the extractors and upload files; the extractor reads each by its signed URL."""
        extractor.on_submit(self._reads_the_file)
        async with self._apis["registration"].client() as http:
            made = await http.post("/registration/client-applications", json={"name": "Invoices"})
            client = made.json()["clientApplicationId"]
            for name in EXTRACTORS:
                wanted = {"name": name, "extractionUrl": extractor.extraction_url, "apiKey": "a-made-up-key"}
                assert (await http.post(f"/registration/{client}/extractors", json=wanted)).status_code == 201
        async with self._apis["files"].client() as http:

            async def upload(number: int) -> str:
                upload = {"file": (f"{number}.pdf", CONTENT, "application/pdf")}
                answer = await http.post("/files", params={"clientApplicationId": client}, files=upload)
                assert answer.status_code == 202, answer.text
                return str(answer.json()["fileId"])

            return [await upload(number) for number in range(count)]

    async def _reads_the_file(self, submission: Received) -> Reply | None:
        try:
            async with self._reader.get(submission.json["fileUrl"]) as answer:
                content = await answer.read()
        except aiohttp.ClientError:
            return Reply(503, b"the file is out of reach")
        return None if content == CONTENT else Reply(400, b"the file can't be read")

    def hurt_one(self) -> None:
        """Kill a worker that is well (and start it again), or freeze it for longer than its lease."""
        well = [worker for worker in self._workers if worker not in self._hurt]
        if not well:
            return
        worker = self._chance.choice(well)
        if self._chance.random() < 0.5:
            self.harm.kills += 1
            self._hurt[worker] = asyncio.create_task(self._healing(worker, _killed_and_started(worker)))
        else:
            self.harm.freezes += 1
            self._hurt[worker] = asyncio.create_task(self._healing(worker, worker.freeze(BEYOND * self._lease)))

    async def _healing(self, worker: FluxxProcess, harm: Coroutine[Any, Any, None]) -> None:
        try:
            await harm
        finally:
            del self._hurt[worker]

    async def healed(self) -> None:
        """Wait until every worker is well."""
        while self._hurt:
            await asyncio.wait(list(self._hurt.values()))

    async def finished(self, files: list[str], *, bound: float) -> list[dict[str, Any]]:
        """Return all jobs once they are final."""
        async with asyncio.timeout(bound), self._apis["jobs"].client() as http:
            return [job for file_id in files for job in await _final_jobs(http, file_id)]

    async def summary(self, files: list[str], extractor: ScriptedExtractor, *, bound: float) -> Summary:
        """Check that every job ended well, once, readable and announced; count what it took."""
        jobs = await self.finished(files, bound=bound)
        assert Counter(job["status"] for job in jobs) == {"Succeeded": len(EXTRACTORS) * len(files)}, _odd(jobs)
        assert len({(job["fileId"], job["clientApplicationExtractorId"]) for job in jobs}) == len(jobs)
        for job in jobs:
            states = Counter(line["status"] for line in job["history"])
            assert (states["Queued"], states["Succeeded"]) == (1, 1), job["history"]
        await self._check_results(jobs, extractor)
        await self._check_events(jobs, bound=bound)
        submissions = extractor.submissions()
        assert {one.json["jobId"] for one in submissions} == {job["jobId"] for job in jobs}
        assert all(one.headers["Idempotency-Key"] == one.json["jobId"] for one in submissions)
        return Summary(
            jobs=len(jobs),
            submissions=len(submissions),
            repeated=len(submissions) - len(jobs),
            claims_lost=sum(worker.told("claim_lost") for worker in self._workers),
        )

    async def _check_results(self, jobs: list[dict[str, Any]], extractor: ScriptedExtractor) -> None:
        gate = asyncio.Semaphore(AT_ONCE)
        async with self._apis["jobs"].client() as http:

            async def check(job: dict[str, Any]) -> None:
                async with gate:
                    answer = await http.get(f"/extractor/job/{job['jobId']}/result")
                    assert answer.content == extractor.result

            await asyncio.gather(*(check(job) for job in jobs))

    async def _check_events(self, jobs: list[dict[str, Any]], *, bound: float) -> None:
        events = await self._events(3 * len(jobs), bound=bound)
        assert len({event.id for event in events}) == len(events) == 3 * len(jobs)
        assert Counter(event.subject for event in events if event.type in FINAL_EVENTS) == {
            job["jobId"]: 1 for job in jobs
        }

    async def _events(self, count: int, *, bound: float) -> list[Envelope]:
        async with (
            asyncio.timeout(bound),
            SqlDatabase(make_engine(self._url), clock=SystemClock(), facts=Facts(), threads=1) as database,
        ):
            log = database.bus({"job-status": ["fluxx-events"]}).subscription("job-status", "fluxx-events")
            seen: list[Recorded] = []
            while len(seen) < count:
                page = await log.browse(after=seen[-1].sequence if seen else 0, limit=1000)
                seen += page
                if not page:
                    await asyncio.sleep(LOOK_EVERY)
            return [job_status.decode(one.message.body) for one in seen]


async def _killed_and_started(worker: FluxxProcess) -> None:
    await worker.kill()
    await worker.start()


async def _final_jobs(http: httpx.AsyncClient, file_id: str) -> list[dict[str, Any]]:
    while True:
        jobs: list[dict[str, Any]] = (await http.get(f"/extractor/job/file/{file_id}")).json()["items"]
        if len([job for job in jobs if job["completedAt"]]) == len(EXTRACTORS):
            return jobs
        await asyncio.sleep(LOOK_EVERY)


def _odd(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [job for job in jobs if job["status"] != "Succeeded"][:3]
