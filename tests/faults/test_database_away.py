"""The database goes away under a running service, or is locked: it says so, loses nothing, and goes on by itself."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from fluxx.telemetry import JOB_STARTED, LOOP_FAILED
from support.databases import make_tables
from support.postgres import Postgres, running_postgres
from support.scripted import Reply, ScriptedExtractor
from support.service import House, house

FILES = 8
SHORT = {"lease_seconds": 1}
LOCKER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
"""


@pytest.fixture(scope="module")
def own_postgres() -> Iterator[Postgres]:
    """A server that may be stopped without anybody else noticing."""
    with running_postgres() as server:
        yield server


@pytest.fixture
def url(own_postgres: Postgres) -> str:
    name = own_postgres.create()
    with psycopg.connect(own_postgres.url("postgres"), autocommit=True) as connection:
        # The tests' servers are quick rather than safe; here a crash must lose nothing that was committed.
        connection.execute(SQL("ALTER DATABASE {} SET synchronous_commit = on").format(Identifier(name)))
    make_tables(own_postgres.url(name))
    return own_postgres.url(name)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGQUIT])
async def test_a_restarted_database_costs_no_job_and_doubles_none(
    tmp_path: Path, own_postgres: Postgres, url: str, end: signal.Signals
) -> None:
    async with (
        ScriptedExtractor(not_ready=3) as extractor,
        house(tmp_path, database_url=url, max_poll_attempts=10_000, **SHORT) as fluxx,
    ):
        opened = asyncio.Event()
        extractor.on_poll(lambda _: None if opened.is_set() else Reply(body={"isReady": False}))
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url)
        files = [await fluxx.upload(client) for _ in range(FILES)]
        await fluxx.heard.wait_for(JOB_STARTED, FILES)

        own_postgres.stop(end)
        for loop in ("dispatch", "relay", "accept"):
            await fluxx.heard.wait_for(LOOP_FAILED, 2, loop=loop)
        await _says_that_the_database_is_away(fluxx)
        own_postgres.start()
        opened.set()

        await _every_job_ended_well_once(fluxx, extractor, files)
        assert (await fluxx.http.get("/readyz")).status_code == 200


async def _says_that_the_database_is_away(fluxx: House) -> None:
    ready = await fluxx.http.get("/readyz")
    assert ready.status_code == 503
    assert ready.json()["checks"]["database"] != "ok"
    assert (await fluxx.http.get("/healthz")).status_code == 200
    for answer in (
        await fluxx.http.get("/extractor/jobs"),
        await fluxx.http.post("/registration/client-applications", json={"name": "Invoices"}),
    ):
        assert answer.status_code == 503
        assert answer.headers["content-type"] == "application/problem+json"
        assert "Retry-After" in answer.headers
        assert "psycopg" not in answer.text
        assert "socket" not in answer.text


async def _every_job_ended_well_once(fluxx: House, extractor: ScriptedExtractor, files: list[UUID]) -> None:
    jobs = [job for file_id in files for job in await fluxx.finished(file_id)]
    assert [job["status"] for job in jobs] == ["Succeeded"] * len(files)
    for job in jobs:
        assert [line["status"] for line in job["history"]].count("Succeeded") == 1
        assert (await fluxx.http.get(f"/extractor/job/{job['jobId']}/result")).content == extractor.result
    assert {str(one.job_id) for one in extractor.submissions()} == {job["jobId"] for job in jobs}
    events = await fluxx.events(3 * len(files))
    assert len({event.id for event in events}) == len(events) == 3 * len(files)


async def test_a_locked_file_is_waited_for_and_can_be_read_meanwhile(tmp_path: Path) -> None:
    async with ScriptedExtractor(not_ready=1) as extractor, house(tmp_path, **SHORT) as fluxx:
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url)
        files = [await fluxx.upload(client)]
        async with _locked_by_another_process(tmp_path / "fluxx.db"):
            uploading = asyncio.create_task(fluxx.upload(client))
            assert (await fluxx.http.get("/extractor/jobs")).status_code == 200
            assert (await fluxx.http.get("/readyz")).status_code == 200
            assert not uploading.done()  # it waits for its turn to write
        files.append(await uploading)
        await _every_job_ended_well_once(fluxx, extractor, files)


@asynccontextmanager
async def _locked_by_another_process(path: Path) -> AsyncIterator[None]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", LOCKER, str(path)), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdin
    assert process.stdout
    assert await process.stdout.readline() == b"locked\n"
    try:
        yield
    finally:
        process.stdin.write(b"\n")
        assert await process.wait() == 0
