"""A ``fluxx worker`` to be measured, and what hands it work and checks what it did."""

import asyncio
import contextlib
import os
import random
import sys
import time
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Self
from uuid import UUID

from sqlalchemy import Select, func, insert, select
from uuid_utils.compat import uuid7

from fluxx import settings as settings_module
from fluxx import wiring
from fluxx.adapters.sql import migrations
from fluxx.adapters.sql.engine import make_engine, reading
from fluxx.adapters.sql.rows import JOB_COLUMNS, file_row
from fluxx.adapters.sql.tables import bus_message, file, job, job_status
from fluxx.clock import SystemClock
from fluxx.messages import accepted_file
from fluxx.messages.accepted_file import AcceptedFile
from fluxx.model.backoff import POLL_SPREAD
from fluxx.model.job import File, Job, Status
from fluxx.ports.bus import Message
from fluxx.ports.secrets import ApiKey
from fluxx.telemetry import Facts
from machine import WORK_CORE, program, wait_until

BOUND = 600.0
HEADSTART = 10.0
"""Seconds from now until the first standing job falls due: the worker starts meanwhile."""

LEASE = 15.0
"""``LEASE_SECONDS`` of our workers: the row of a kept job says that much more than when it is polled."""

WAITING = {
    "sqlite": f"""
        SELECT json_group_array(json_array(id, due)) FROM (
            SELECT "JobID" AS id,
                   86400.0 * (julianday("DueAt") - 2440587.5) - iif("ClaimToken" IS NULL, 0, {LEASE}) AS due
            FROM "Job" WHERE "DueAt" IS NOT NULL
        ) WHERE due > 86400.0 * (julianday('now') - 2440587.5)""",
    "postgresql": f"""
        SELECT json_agg(json_build_array(id, due))::text FROM (
            SELECT "JobID" AS id,
                   extract(epoch FROM "DueAt")::float8 - CASE WHEN "ClaimToken" IS NULL THEN 0 ELSE {LEASE} END AS due
            FROM extractor."Job" WHERE "DueAt" IS NOT NULL
        ) AS live WHERE due > extract(epoch FROM clock_timestamp())""",
}
"""Which jobs wait, and until when (Unix time), as one text of JSON: asked while the worker is measured, so at no more
cost than need be. What is being polled was seen waiting before."""


class OurWorker:
    """A worker process over a fresh home and database, with one client application registered.

    ``standing`` jobs are started already; they fall due at the pace that they keep later.
    """

    def __init__(
        self,
        home: Path,
        database_url: str,
        extraction_url: str,
        *,
        extractors: int,
        interval: float,
        standing: int = 0,
        **environment: str,
    ) -> None:
        home.mkdir()
        self._home = home
        self._extraction_url = extraction_url
        self._extractors = extractors
        self._interval = interval
        self._standing = standing
        self.environment = {
            "FLUXX_HOME": str(home),
            "LEASE_SECONDS": str(LEASE),
            "DATABASE_URL": database_url,
            "PUBLIC_URL": "http://127.0.0.1:9",
            "EGRESS_ALLOWED_NETWORKS": "127.0.0.0/8",
            "POLL_INTERVAL_SECONDS": str(interval),
            "POLL_BACKOFF_FACTOR": "1",
            "POLL_MAX_INTERVAL_SECONDS": str(interval),
            **environment,
        }
        self._engine = make_engine(database_url)
        self._reading = reading(self._engine)  # a writing transaction would make the worker wait
        self._stack = contextlib.ExitStack()
        self.client = uuid7()

    def __enter__(self) -> Self:
        self.prepare()
        self.pid = self.start(core=WORK_CORE)
        return self

    def prepare(self) -> None:
        """Bring the database to where the worker starts."""
        migrations.migrate(self._engine)
        asyncio.run(self._register())
        if self._standing:
            self._let_stand()

    def start(self, *, core: int) -> int:
        """Run a worker until the end of the block; return its process id once it is ready."""
        log = self._home / f"worker-{core}.log"
        child = self._stack.enter_context(
            program([sys.executable, "-m", "fluxx", "worker"], core=core, environment=self.environment, log=log)
        )

        def is_ready() -> bool:
            assert child.poll() is None, log.read_text()
            return "Ready" in log.read_text()

        wait_until(is_ready, bound=BOUND, every=0.1)
        time.sleep(1)
        return child.pid

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self._engine.dispose()

    @contextlib.asynccontextmanager
    async def _world(self) -> AsyncIterator[wiring.World]:
        os.environ.update(self.environment)
        settings = settings_module.load()
        async with wiring.connect(settings, facts=Facts(), clock=SystemClock(), chance=random.Random()) as world:
            yield world

    async def _register(self) -> None:
        async with self._world() as world:
            registering = wiring.registering(world)
            client = await registering.register_client_application("bench")
            self.client = client.client_application_id
            made = [
                await registering.register_extractor(
                    self.client, name=f"mock {number}", extraction_url=self._extraction_url, api_key=ApiKey("key")
                )
                for number in range(self._extractors)
            ]
            self._extractor_ids = [one.client_application_extractor_id for one in made]

    def _let_stand(self) -> None:
        files = [self._file(uuid7()) for _ in range(-(-self._standing // self._extractors))]
        jobs = [{column: getattr(one, field) for field, column in JOB_COLUMNS.items()} for one in self._started(files)]
        with self._engine.begin() as connection:
            connection.execute(insert(file), [file_row(one) for one in files])
            connection.execute(insert(job), jobs)

    def _started(self, files: list[File]) -> Iterator[Job]:
        now = SystemClock().now()
        for number in range(self._standing):
            due = HEADSTART + self._interval * (1 - POLL_SPREAD / 2) * number / self._standing
            yield Job(
                job_id=uuid7(),
                file_id=files[number // self._extractors].file_id,
                client_application_id=self.client,
                client_application_extractor_id=self._extractor_ids[number % self._extractors],
                status=Status.STARTED,
                status_message="Submitted",
                created_at=now,
                updated_at=now,
                deadline_at=now + timedelta(days=1),
                due_at=now + timedelta(seconds=due),
                idempotency_key="1",
            )

    def jobs(self) -> list[tuple[str, str]]:
        """Return all jobs: their ids, and those of their files."""
        with self._reading.connect() as connection:
            return [(str(row.JobID), str(row.FileId)) for row in connection.execute(select(job.c.JobID, job.c.FileId))]

    def results(self) -> list[tuple[float, int]]:
        """Return of each succeeded job the seconds from its start to its end, and the size of its result."""
        started = select(job_status.c.JobID, job_status.c.Timestamp).where(
            job_status.c.Status == "Started", job_status.c.AttemptNumber == 0
        )
        done = select(job.c.JobID, job.c.CompletedAt, job.c.ExtractorResponse).where(job.c.Status == "Succeeded")
        with self._reading.connect() as connection:
            began = {row.JobID: row.Timestamp for row in connection.execute(started)}
            return [
                (
                    (row.CompletedAt - began[row.JobID]).total_seconds(),
                    self._result(row.ExtractorResponse).stat().st_size,
                )
                for row in connection.execute(done)
            ]

    def _result(self, path: str) -> Path:
        return self._home / "blobs" / path

    def due(self) -> str:
        """Return ``WAITING``'s text; jobs that are being worked on are left out."""
        with self._reading.connect() as connection:
            return str(connection.exec_driver_sql(WAITING[self._engine.dialect.name]).scalar_one())

    def work(self, files: int) -> float:
        """Announce ``files`` files at once; return the seconds until all their jobs are final and told."""
        ids = [uuid7() for _ in range(files)]
        with self._engine.begin() as connection:
            connection.execute(insert(file), [file_row(self._file(one)) for one in ids])
        asyncio.run(self._announce(ids))
        told = select(func.count()).select_from(bus_message).where(bus_message.c.Topic == "job-status")
        want = 3 * files * self._extractors
        return wait_until(lambda: self._count(told) >= want, bound=BOUND, every=0.1)

    def _file(self, file_id: UUID) -> File:
        return File(
            file_id=file_id,
            client_application_id=self.client,
            file_name="bench.pdf",
            content_type="application/pdf",
            size=1,
            sha256=None,
            blob_path=f"files/{self.client}/{file_id}/content",
            is_remote=False,
            created_at=SystemClock().now(),
        )

    async def _announce(self, ids: list[UUID]) -> None:
        async with self._world() as world:
            messages = [
                Message(
                    message_id=str(one),
                    body=accepted_file.encode(AcceptedFile(file_id=one, client_application_id=self.client)),
                )
                for one in ids
            ]
            await world.bus.publish(world.settings.topic_accepted_file, messages)

    def _count(self, statement: Select[tuple[int]]) -> int:
        with self._reading.connect() as connection:
            return connection.scalar(statement)

    def check(self, files: int) -> None:
        """Every job has its result, its states and its events, or nothing was measured."""
        want = files * self._extractors
        with self._reading.connect() as connection:
            done = connection.execute(
                select(job.c.ExtractorResponse, job.c.PollAttemptCount).where(job.c.Status == "Succeeded")
            ).all()
            lines = connection.scalar(select(func.count()).select_from(job_status))
        assert len(done) == want, f"{len(done)} of {want} succeeded"
        assert lines == want * 5, f"{lines} history rows for {want} jobs"
        for row in done:
            assert row.PollAttemptCount == 3
            assert self._result(row.ExtractorResponse).stat().st_size == 4096
