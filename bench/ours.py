"""A ``fluxx worker`` to be measured, and what hands it work and checks what it did."""

import asyncio
import contextlib
import os
import random
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Self
from uuid import UUID

from sqlalchemy import Select, func, insert, select
from uuid_utils.compat import uuid7

from fluxx import settings as settings_module
from fluxx import wiring
from fluxx.adapters.sql import migrations
from fluxx.adapters.sql.engine import make_engine
from fluxx.adapters.sql.rows import file_row
from fluxx.adapters.sql.tables import bus_message, file, job, job_status
from fluxx.clock import SystemClock
from fluxx.messages import accepted_file
from fluxx.messages.accepted_file import AcceptedFile
from fluxx.model.job import File
from fluxx.ports.bus import Message
from fluxx.ports.secrets import ApiKey
from fluxx.telemetry import Facts
from machine import WORK_CORE, program

BOUND = 600.0


class OurWorker:
    """A worker process over a fresh home and database, with one client application registered."""

    def __init__(
        self,
        home: Path,
        database_url: str,
        extraction_url: str,
        *,
        extractors: int,
        interval: float,
        **environment: str,
    ) -> None:
        home.mkdir()
        self._home = home
        self._extraction_url = extraction_url
        self._extractors = extractors
        self._log = home / "worker.log"
        self._environment = {
            "FLUXX_HOME": str(home),
            "DATABASE_URL": database_url,
            "PUBLIC_URL": "http://127.0.0.1:9",
            "EGRESS_ALLOWED_NETWORKS": "127.0.0.0/8",
            "POLL_INTERVAL_SECONDS": str(interval),
            "POLL_BACKOFF_FACTOR": "1",
            "POLL_MAX_INTERVAL_SECONDS": str(interval),
            **environment,
        }
        self._engine = make_engine(database_url)
        self._stack = contextlib.ExitStack()
        self.client = uuid7()

    def __enter__(self) -> Self:
        migrations.migrate(self._engine)
        asyncio.run(self._register())
        command = [sys.executable, "-m", "fluxx", "worker"]
        child = self._stack.enter_context(
            program(command, core=WORK_CORE, environment=self._environment, log=self._log)
        )
        self.pid = child.pid
        began = time.monotonic()
        while "Ready" not in self._log.read_text():
            assert child.poll() is None, self._log.read_text()
            assert time.monotonic() - began < BOUND, "not ready in time"
            time.sleep(0.1)
        time.sleep(1)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self._engine.dispose()

    @contextlib.asynccontextmanager
    async def _world(self) -> AsyncIterator[wiring.World]:
        os.environ.update(self._environment)
        settings = settings_module.load()
        async with wiring.connect(settings, facts=Facts(), clock=SystemClock(), chance=random.Random()) as world:
            yield world

    async def _register(self) -> None:
        async with self._world() as world:
            registering = wiring.registering(world)
            client = await registering.register_client_application("bench")
            self.client = client.client_application_id
            for number in range(self._extractors):
                await registering.register_extractor(
                    self.client, name=f"mock {number}", extraction_url=self._extraction_url, api_key=ApiKey("key")
                )

    def work(self, files: int) -> float:
        """Announce ``files`` files at once; return the seconds until all their jobs are final and told."""
        ids = [uuid7() for _ in range(files)]
        with self._engine.begin() as connection:
            connection.execute(insert(file), [file_row(self._file(one)) for one in ids])
        asyncio.run(self._announce(ids))
        began = time.monotonic()
        want = files * self._extractors
        while (
            self._count(select(func.count()).select_from(bus_message).where(bus_message.c.Topic == "job-status"))
            < 3 * want
        ):
            assert time.monotonic() - began < BOUND, "not done in time"
            time.sleep(0.1)
        return time.monotonic() - began

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
        with self._engine.connect() as connection:
            return connection.scalar(statement)

    def check(self, files: int) -> None:
        """Every job has its result, its states and its events, or nothing was measured."""
        want = files * self._extractors
        with self._engine.connect() as connection:
            done = connection.execute(
                select(job.c.ExtractorResponse, job.c.PollAttemptCount).where(job.c.Status == "Succeeded")
            ).all()
            lines = connection.scalar(select(func.count()).select_from(job_status))
        assert len(done) == want, f"{len(done)} of {want} succeeded"
        assert lines == want * 5, f"{lines} history rows for {want} jobs"
        for row in done:
            assert row.PollAttemptCount == 3
            assert (self._home / "blobs" / row.ExtractorResponse).stat().st_size == 4096
