"""The floor: the same HTTP calls, files and grouped durable writes as a job needs, and nothing else.

No claims, no leases, no fencing, no retries, no limits, no registry, no egress guard, no telemetry:
what a program would cost that only did the work. aiohttp, sqlite3 or psycopg, one event loop.

Usage: floor.py URL-OF-EXTRACTOR DATABASE FILES EXTRACTORS INTERVAL FOLDER
Prints "ready", waits for a line on standard input, works, prints seconds and jobs as JSON.
"""

import asyncio
import json
import os
import sqlite3
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
import psycopg
import uvloop

TABLES = """
CREATE TABLE job (job_id {uuid} PRIMARY KEY, file_id {uuid}, extractor_id {uuid}, status TEXT, message TEXT,
                  polls INT, result TEXT, created_at {time}, updated_at {time}, completed_at {time}, due_at {time});
CREATE TABLE job_status (id {serial}, job_id {uuid}, status TEXT, message TEXT, attempt INT, at {time});
CREATE TABLE event (id {serial}, event_id {uuid}, job_id {uuid}, body TEXT, at {time})
"""
INSERT_JOB = "INSERT INTO job VALUES (?,?,?,?,?,?,?,?,?,?,?)"
UPDATE_JOB = (
    "UPDATE job SET status=?, message=?, polls=?, result=?, updated_at=?, completed_at=?, due_at=? WHERE job_id=?"
)
INSERT_STATUS = "INSERT INTO job_status (job_id, status, message, attempt, at) VALUES (?,?,?,?,?)"
INSERT_EVENT = "INSERT INTO event (event_id, job_id, body, at) VALUES (?,?,?,?)"


class Sqlite:
    def __init__(self, url: str) -> None:
        self.connection = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None, check_same_thread=False)
        self.connection.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;")
        self.connection.executescript(
            TABLES.format(uuid="TEXT", time="TEXT", serial="INTEGER PRIMARY KEY AUTOINCREMENT")
        )

    def write(self, statements: list[tuple[str, list[tuple]]]) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        for statement, rows in statements:
            self.connection.executemany(statement, rows)
        self.connection.execute("COMMIT")


class Postgres:
    def __init__(self, url: str) -> None:
        self.connection = psycopg.connect(url.replace("postgresql+psycopg://", "postgresql://"))
        self.connection.execute(TABLES.format(uuid="UUID", time="TIMESTAMPTZ", serial="BIGSERIAL PRIMARY KEY"))
        self.connection.commit()

    def write(self, statements: list[tuple[str, list[tuple]]]) -> None:
        with self.connection.cursor() as cursor:
            for statement, rows in statements:
                cursor.executemany(statement.replace("?", "%s"), rows)
        self.connection.commit()


class Committer:
    """Whatever gathers while a group is written forms the next one."""

    def __init__(self, database: Sqlite | Postgres) -> None:
        self.database = database
        self.thread = ThreadPoolExecutor(1)
        self.waiting: list[tuple[dict[str, list[tuple]], asyncio.Future]] = []
        self.running = False

    async def write(self, rows: dict[str, list[tuple]]) -> None:
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self.waiting.append((rows, future))
        if not self.running:
            self.running = True
            self.task = loop.create_task(self._drain())
        await future

    async def _drain(self) -> None:
        await asyncio.sleep(0)
        while self.waiting:
            group, self.waiting = self.waiting[:500], self.waiting[500:]
            statements = [
                (statement, [row for rows, _ in group for row in rows.get(statement, ())])
                for statement in (INSERT_JOB, UPDATE_JOB, INSERT_STATUS, INSERT_EVENT)
            ]
            await asyncio.get_running_loop().run_in_executor(
                self.thread, self.database.write, [one for one in statements if one[1]]
            )
            for _, future in group:
                future.set_result(None)
        self.running = False


class Floor:
    def __init__(self, url: str, database: str, interval: float, folder: Path) -> None:
        self.text = database.startswith("sqlite")
        self.committer = Committer(Sqlite(database) if self.text else Postgres(database))
        self.url, self.interval, self.folder = url, interval, folder
        self.files = ThreadPoolExecutor(8)

    def id(self, value: uuid.UUID) -> object:
        return str(value) if self.text else value

    def now(self) -> object:
        return datetime.now(UTC).isoformat() if self.text else datetime.now(UTC)

    def event(self, job: object, kind: str) -> tuple:
        body = {
            "specversion": "1.0",
            "id": str(uuid.uuid4()),
            "type": kind,
            "subject": str(job),
            "data": {"JobID": str(job)},
        }
        return self.id(uuid.uuid4()), job, json.dumps(body), self.now()

    async def file(self, session: aiohttp.ClientSession, extractors: int, slots: asyncio.Semaphore) -> None:
        file_id, now = self.id(uuid.uuid4()), self.now()
        jobs = [self.id(uuid.uuid4()) for _ in range(extractors)]
        await self.committer.write(
            {
                INSERT_JOB: [(job, file_id, file_id, "Queued", None, 0, None, now, now, None, now) for job in jobs],
                INSERT_STATUS: [(job, "Queued", None, 0, now) for job in jobs],
                INSERT_EVENT: [self.event(job, "JobQueued") for job in jobs],
            }
        )
        await asyncio.gather(*(self.job(session, job, slots) for job in jobs))

    async def job(self, session: aiohttp.ClientSession, job: object, slots: asyncio.Semaphore) -> None:
        headers = {"Authorization": "Bearer key", "Idempotency-Key": str(job)}
        body = json.dumps({"fileUrl": f"http://files/{job}?sig=1", "jobId": str(job)}, separators=(",", ":")).encode()
        async with slots, session.post(self.url, data=body, headers=headers) as answer:
            assert answer.status == 201
            await answer.read()
        await self.write(job, "Started", 0, event="JobStarted")
        for poll in range(1, 1000):
            await asyncio.sleep(self.interval)
            async with slots, session.get(f"{self.url}/{job}", headers=headers) as answer:
                content = await answer.read()
            if json.loads(content)["isReady"]:
                break
            await self.write(job, "Started", poll)
        path = self.folder / str(job) / "result.json"
        await asyncio.get_running_loop().run_in_executor(self.files, _store, path, content[25:-1])
        await self.write(job, "Succeeded", poll, result=str(path), event="JobSucceeded")

    async def write(
        self, job: object, status: str, poll: int, result: str | None = None, event: str | None = None
    ) -> None:
        now = self.now()
        rows = {
            UPDATE_JOB: [(status, "message", poll, result, now, now if result else None, None if result else now, job)],
            INSERT_STATUS: [(job, status, "message", poll, now)],
        }
        if event:
            rows[INSERT_EVENT] = [self.event(job, event)]
        await self.committer.write(rows)


def _store(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True)
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)


async def main(url: str, database: str, files: int, extractors: int, interval: float, folder: Path) -> None:
    floor = Floor(url, database, interval, folder)
    connector = aiohttp.TCPConnector(limit=256)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:
        print("ready", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        began, slots = time.monotonic(), asyncio.Semaphore(256)
        await asyncio.gather(*(floor.file(session, extractors, slots) for _ in range(files)))
        print(json.dumps({"seconds": time.monotonic() - began, "jobs": files * extractors}), flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)


if __name__ == "__main__":
    extractor_url, database_url, file_count, extractor_count, poll_interval, result_folder = sys.argv[1:]
    uvloop.run(
        main(
            extractor_url,
            database_url,
            int(file_count),
            int(extractor_count),
            float(poll_interval),
            Path(result_folder),
        )
    )
