"""Driving a running extractor from outside: files to fetch, submissions, polls, results."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp

from fluxx.extractors.contract import Kind
from fluxx.extractors.run import Running, serve
from fluxx.telemetry import EXTRACTION_FAILED, EXTRACTION_FINISHED, Facts
from support.facts import FactsHeard
from support.scripted import Reply, ScriptedExtractor

DOCUMENTS = Path(__file__).parents[1] / "documents"
BOUND = 60.0
"""Seconds after which a job that doesn't end fails the test: the first one starts processes."""


class Driver:
    """Speaks contract v1 to a running extractor; ``files`` serves what it is told to extract."""

    def __init__(
        self, running: Running, session: aiohttp.ClientSession, files: ScriptedExtractor, heard: FactsHeard
    ) -> None:
        self.running = running
        self.session = session
        self.files = files
        self.heard = heard
        self._numbers = count(1)

    def put(self, content: bytes, *, name: str = "file", content_type: str = "application/octet-stream") -> str:
        """Serve ``content`` and return its URL."""
        path = f"/{next(self._numbers)}/{name}"
        self.files.on_path(path, lambda _request: Reply(body=content, headers={"Content-Type": content_type}))
        return self.files.url + path

    async def post(self, kind: Kind, body: Any, **options: Any) -> aiohttp.ClientResponse:
        """Submit whatever it is; the answer's body is read already."""
        async with self.session.post(self.running.extraction_url(kind), json=body, **options) as answer:
            await answer.read()
        return answer

    async def poll(self, kind: Kind, job_id: str, **options: Any) -> aiohttp.ClientResponse:
        """Ask once; the answer's body is read already."""
        async with self.session.get(f"{self.running.extraction_url(kind)}/{job_id}", **options) as answer:
            await answer.read()
        return answer

    async def submit(self, kind: Kind, file_url: str) -> str:
        """Submit a job that must be taken; return its id."""
        job_id = f"job-{next(self._numbers)}"
        answer = await self.post(kind, {"fileUrl": file_url, "jobId": job_id})
        assert answer.status == 201, await answer.text()
        return job_id

    async def finished(self, kind: Kind, job_id: str) -> dict[str, Any]:
        """Wait until the job's end is told, and return the answer to a poll."""
        async with asyncio.timeout(BOUND):
            while not any(
                fields["job_id"] == job_id and fields["kind"] == kind
                for fact in (EXTRACTION_FINISHED, EXTRACTION_FAILED)
                for fields in self.heard.of(fact)
            ):
                await self.heard.news(beyond=len(self.heard.all))
        answer = await self.poll(kind, job_id)
        ready: dict[str, Any] = await answer.json()
        assert ready["isReady"] is True
        return ready

    async def extract(self, kind: Kind, document: Path) -> dict[str, Any]:
        """Have a document extracted, and return the answer to the poll that found it ready."""
        url = self.put(await asyncio.to_thread(document.read_bytes), name=document.name)
        return await self.finished(kind, await self.submit(kind, url))

    async def fetch(self, path: str) -> aiohttp.ClientResponse:
        """Read what a relative resultUrl leads to, without any key."""
        async with self.session.get(self.running.url + path) as answer:
            await answer.read()
        return answer


@asynccontextmanager
async def driving(*kinds: Kind, **options: Any) -> AsyncIterator[Driver]:
    """Run extractors of these kinds with these options of ``serve``, and a server of files beside them."""
    facts = Facts()
    heard = FactsHeard(facts)
    async with (
        ScriptedExtractor() as files,
        aiohttp.ClientSession() as session,
        serve(kinds, facts=facts, **options) as running,
    ):
        yield Driver(running, session, files, heard)
