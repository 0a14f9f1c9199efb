"""The steps of a job, one by one, against a real server: outcomes as the worker gets them, nothing written down."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from uuid_utils.compat import uuid7

from fluxx import settings, wiring
from fluxx.clock import SystemClock
from fluxx.extraction.asking import Asking, guarded
from fluxx.extraction.catalogue import Catalogue
from fluxx.extraction.collect import Collect
from fluxx.extraction.handed_out import HandedOut
from fluxx.extraction.poll import Poll
from fluxx.extraction.submit import Submit
from fluxx.model.job import Extractor, Job, Status
from fluxx.model.outcome import Outcome
from fluxx.ports.secrets import ApiKey
from fluxx.telemetry import Facts
from fluxx.wiring import World
from support.placed_jobs import placed_job
from support.scripted import Answering, Reply, ScriptedExtractor

KEY = ApiKey("a-made-up-key-4711")
TIMEOUT = 1.0
LARGEST = 1_000_000
"""Bytes of an answer, and of a result."""


class Steps:
    """Submits, polls and downloads for made-up jobs; ``replies`` script the server for that job alone."""

    def __init__(self, world: World, server: ScriptedExtractor, job: Job) -> None:
        self.world = world
        self.server = server
        self.extractor_id = job.client_application_extractor_id
        self._job = job
        asking = Asking(client=world.extractors, secrets=world.secrets)
        catalogue = Catalogue(registrations=world.registrations, files=world.files)
        common: dict[str, Any] = {"clock": world.clock, "timeout": TIMEOUT, "max_bytes": LARGEST}
        handed_out = HandedOut(catalogue=catalogue, blobs=world.blobs, secrets=world.secrets, url_ttl=3600.0)
        common["handed_out"] = handed_out
        collect = Collect(client=world.extractors, secrets=world.secrets, blobs=world.blobs, facts=Facts(), **common)
        self._poll = Poll(asking=asking, catalogue=catalogue, collect=collect, **common)
        self._submit = Submit(asking=asking, catalogue=catalogue, collect=collect, **common)
        self._secrets_of = handed_out.secrets_of

    def job(self, **changes: Any) -> Job:
        """A queued job that nobody else knows of."""
        return replace(self._job, job_id=uuid7(), **changes)

    async def submitted(self, *replies: Reply | Answering, job: Job | None = None) -> Outcome:
        """Submit a job once."""
        job = job or self.job()
        self.server.on_submit(*replies, job_id=job.job_id)
        return await guarded(self._submit, job, self._secrets_of)

    async def polled(self, *replies: Reply | Answering, job: Job | None = None, **changes: Any) -> Outcome:
        """Poll a started job once; ``changes`` say what happened to it before."""
        job = job or self.job(status=Status.STARTED, **changes)
        self.server.on_poll(*replies, job_id=job.job_id)
        return await guarded(self._poll, job, self._secrets_of)

    async def downloaded(self, *replies: Reply | Answering, url: str | None = None) -> Outcome:
        """Poll a job whose result lies behind a URL, and fetch it there."""
        job = self.job(status=Status.STARTED)
        path = f"/results/{job.job_id}/result"
        self.server.on_path(path, *replies)
        ready = Reply(body={"isReady": True, "resultUrl": url or path})
        return await self.polled(ready, job=job)

    async def stored(self, path: str) -> bytes:
        """What the blob store holds."""
        async with self.world.blobs.open(path) as opened:
            return b"".join([chunk async for chunk in opened.chunks])


@asynccontextmanager
async def steps(home: Path, server: ScriptedExtractor) -> AsyncIterator[Steps]:
    """A world with one extractor, which is ``server``, and one file to submit."""
    loaded = settings.load(fluxx_home=home, egress_allowed_networks="127.0.0.0/8")
    async with wiring.connect(loaded, facts=Facts(), clock=SystemClock(), chance=random.Random(1)) as world:
        registering = wiring.registering(world)
        client = (await registering.register_client_application("Invoices")).client_application_id
        extractor: Extractor = await registering.register_extractor(
            client, name="ocr", extraction_url=server.extraction_url, api_key=KEY
        )
        file = await wiring.uploading(world).upload(
            client_application_id=client, file_name="a.pdf", content_type="application/pdf", content=_content()
        )
        yield Steps(world, server, await placed_job(world, file.file_id, extractor))


async def _content() -> AsyncIterator[bytes]:
    yield b"%PDF"
