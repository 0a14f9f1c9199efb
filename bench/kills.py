"""``kill -9`` fifty times during 3,000 jobs: one worker on SQLite, three side by side on PostgreSQL.

Files are announced round by round; in the middle of each round a process is killed and another one takes its
place, forked from one that has imported everything. At the end every job must have ended once, with a readable
result and its three events in order, and every submission must have carried its job's id; else this fails.
"""

import argparse
import asyncio
import hashlib
import random
import signal
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Self

import httpx
from sqlalchemy import Engine, func, select
from uuid_utils.compat import uuid7

from databases import database
from fluxx import settings as settings_module
from fluxx import wiring
from fluxx.adapters.sql.engine import make_engine, reading
from fluxx.adapters.sql.tables import bus_message, job, job_status, outbox
from fluxx.clock import SystemClock
from fluxx.messages import accepted_file
from fluxx.messages import job_status as envelopes
from fluxx.messages.accepted_file import AcceptedFile
from fluxx.model.job import File
from fluxx.ports.bus import Message
from fluxx.ports.secrets import ApiKey
from fluxx.telemetry import Facts
from fluxx.wiring import World
from machine import OTHER_CORE, program, python
from report import save
from support.databases import make_tables
from support.struck import StruckProcess

EXTRACTORS = 3
WORKERS = {"sqlite": 1, "postgresql": 3}
BOUND = 240.0
SETTINGS = {
    "lease_seconds": 2.0,
    "poll_interval_seconds": 0.2,
    "poll_max_interval_seconds": 0.5,
    "retry_base_seconds": 0.1,
    "retry_max_seconds": 0.5,
    "egress_allowed_networks": "127.0.0.0/8",
    "public_url": "http://127.0.0.1:9",
}
LIFE = ["JobQueued", "JobStarted", "JobSucceeded"]


class Victim:
    """A worker that is killed again and again."""

    def __init__(self, home: Path, url: str | None) -> None:
        self._home = home
        self._url = url

    async def __aenter__(self) -> Self:
        self._process = StruckProcess(self._home, roles=frozenset({"worker"}), database_url=self._url, **SETTINGS)
        await self._process.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._process.__aexit__(None, None, None)

    async def killed(self) -> None:
        """``kill -9``; then another process takes its place."""
        self._process.send(signal.SIGKILL)
        await self._process.ended()
        await self.__aenter__()


class Extractor:
    """The extractor of the benchmarks, and what it counted."""

    def __init__(self, port: int, http: httpx.AsyncClient) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._http = http

    async def stats(self) -> dict[str, Any]:
        return (await self._http.get(f"{self.url}/stats")).json()

    async def goes_on(self, requests: int) -> None:
        """Wait for so many further requests, or some seconds where there is less to do."""
        wanted = await self._requests() + requests
        for _ in range(100):
            if await self._requests() >= wanted:
                return
            await asyncio.sleep(0.05)

    async def _requests(self) -> int:
        stats = await self.stats()
        return stats["submissions"] + stats["polls"]


@asynccontextmanager
async def open_world(home: Path, url: str | None) -> AsyncIterator[World]:
    settings = settings_module.load(fluxx_home=home, database_url=url, **SETTINGS)
    async with wiring.connect(settings, facts=Facts(), clock=SystemClock(), chance=random.Random()) as world:
        yield world


async def register(world: World, extractor: Extractor) -> Any:
    registering = wiring.registering(world)
    client = (await registering.register_client_application("bench")).client_application_id
    for number in range(EXTRACTORS):
        await registering.register_extractor(
            client, name=f"mock {number}", extraction_url=f"{extractor.url}/extract", api_key=ApiKey("key")
        )
    return client


async def announce(world: World, client: Any, count: int) -> None:
    for _ in range(count):
        file_id = uuid7()
        await world.files.add_file(
            File(
                file_id=file_id,
                client_application_id=client,
                file_name="bench.pdf",
                content_type="application/pdf",
                size=1,
                sha256=None,
                blob_path=f"files/{client}/{file_id}/content",
                is_remote=False,
                created_at=world.clock.now(),
            )
        )
        body = accepted_file.encode(AcceptedFile(file_id=file_id, client_application_id=client))
        await world.bus.publish("accepted-file", [Message(message_id=str(file_id), body=body)])


async def run(kind: str, url: str | None, folder: Path, options: argparse.Namespace) -> str:
    chance, home = random.Random(options.seed), folder / "home"
    each = max(1, options.files // options.kills)
    home.mkdir()
    victims = [Victim(home, url) for _ in range(WORKERS[kind])]
    began = time.monotonic()
    async with AsyncExitStack() as stack:
        mock = stack.enter_context(program(python("mock_extractor.py", "--not-ready", "2"), core=OTHER_CORE))
        http = await stack.enter_async_context(httpx.AsyncClient(timeout=30))
        extractor = Extractor(int(mock.stdout.readline()), http)
        for victim in victims:
            await stack.enter_async_context(victim)
        world = await stack.enter_async_context(open_world(home, url))
        client = await register(world, extractor)
        for _ in range(options.kills):
            await announce(world, client, each)
            await extractor.goes_on(chance.randint(1, 150))
            await chance.choice(victims).killed()
        engine = make_engine(url or f"sqlite:///{home / 'fluxx.db'}")
        jobs = options.kills * each * EXTRACTORS
        await told(engine, jobs)
        check(engine, home, jobs)
        stats = await extractor.stats()
        assert stats["jobs"] == jobs, f"{stats['jobs']} ids were submitted for {jobs} jobs"
        engine.dispose()
        seconds = time.monotonic() - began
    repeated = stats["submissions"] - jobs
    save(f"kills-{kind}", {"jobs": jobs, "kills": options.kills, "repeated": repeated, "seconds": round(seconds, 1)})
    return (
        f"{kind}: {jobs} jobs, {options.kills} times kill -9, seed {options.seed}: nothing lost, stuck or doubled; "
        f"{repeated} submissions were repeated, each under its job's id; {seconds:.0f} s"
    )


async def told(engine: Engine, jobs: int) -> None:
    """Wait until every job's last event is on the topic, and messages whose receiver was killed have come again."""
    end = time.monotonic() + BOUND
    count = select(func.count()).select_from(bus_message)
    events = count.where(bus_message.c.Topic == "job-status")
    inbox = count.where(bus_message.c.Topic == "accepted-file")
    while True:
        with reading(engine).connect() as connection:
            there, waiting = connection.scalar(events), connection.scalar(inbox)
        if there >= len(LIFE) * jobs and waiting == 0:
            return
        assert time.monotonic() < end, f"stuck: {there} of {len(LIFE) * jobs} events, {waiting} messages wait"
        await asyncio.sleep(0.5)


def check(engine: Engine, home: Path, jobs: int) -> None:
    """Every job ended once, its result is there, its events came once and in order."""
    with engine.connect() as connection:
        rows = connection.execute(select(job)).all()
        finals = select(func.count()).select_from(job_status).where(job_status.c.Status.in_(["Succeeded", "Failed"]))
        assert connection.scalar(finals) == jobs, "some job ended twice, or not at all"
        waiting = select(func.count()).select_from(outbox).where(outbox.c.PublishedAt.is_(None))
        assert connection.scalar(waiting) == 0, "some event waits"
        topic = select(bus_message.c.Body).where(bus_message.c.Topic == "job-status")
        bodies = list(connection.scalars(topic.order_by(bus_message.c.BusMessageID)))
    assert len(rows) == jobs, f"{len(rows)} of {jobs} jobs"
    assert len({(row.FileId, row.ClientApplicationExtractorID) for row in rows}) == jobs, "some job is doubled"
    for row in rows:
        assert row.Status == "Succeeded", f"{row.JobID} {row.Status}: {row.StatusMessage}"
        content = (home / "blobs" / row.ExtractorResponse).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (row.ResultSize, row.ResultSha256)
    lives = defaultdict(list)
    for event in map(envelopes.decode, bodies):
        lives[event.subject].append(event.type.rpartition(".")[2])
    assert len(lives) == jobs
    assert all(life == LIFE for life in lives.values()), "some job's events are out of order, or doubled"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--databases", nargs="*", default=["sqlite", "postgresql"])
    options = parser.parse_args()
    for kind in options.databases:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if kind == "sqlite":
                print(asyncio.run(run(kind, None, folder, options)), flush=True)
                continue
            with database(kind, folder) as base:
                make_tables(base.url)
                print(asyncio.run(run(kind, base.url, folder, options)), flush=True)


if __name__ == "__main__":
    main()
