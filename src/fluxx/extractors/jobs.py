"""The jobs of a real extractor: download, extract in a worker process, keep the result for a while.

One ``Extractions`` stands behind each kind (``text``, ``tables``); they share the worker processes.
Everything is in memory and in one temporary folder: a restart forgets all jobs, and a client that
polls for one gets a 404.
"""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO, Final

import aiohttp
import msgspec

from fluxx.errors import NotFound, Unavailable
from fluxx.extractors.contract import (
    CHUNK_BYTES,
    CannotExtract,
    Elsewhere,
    Failure,
    Inline,
    NotReadyYet,
    State,
    Streamed,
    Submission,
)
from fluxx.extractors.download import fetch
from fluxx.extractors.keeping import Keeping
from fluxx.extractors.task import Task
from fluxx.extractors.workers import Workers
from fluxx.telemetry import EXTRACTION_FAILED, EXTRACTION_FINISHED, Facts

LONGEST_RETRY_AFTER: Final = 10
"""Seconds."""

NO_RESULT: Final = "There is no such result, or it is no longer kept."


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """What a real extractor allows itself. Sizes are in bytes, durations in seconds."""

    max_file_bytes: int = 512 * 2**20
    max_inline_bytes: int = 256 * 2**10
    download_seconds: float = 600.0
    extraction_seconds: float = 300.0
    max_live_jobs: int = 1000
    max_kept_jobs: int = 1000
    kept_seconds: float = 3600.0


class _Job:
    """One job: where its result goes, and what became of it."""

    def __init__(self, folder: Path) -> None:
        self.began = time.monotonic()
        self.token = secrets.token_hex(16)
        self.result_path = folder / f"{self.token}.json"
        self.work: asyncio.Task[None] | None = None
        self.size: int | None = None
        self.failure: Failure | None = None


class Extractions:
    """The backend of one kind. ``folder`` is its own; ``downloads`` bounds how many run at the same time."""

    def __init__(
        self,
        kind: str,
        *,
        bounds: Bounds,
        folder: Path,
        session: aiohttp.ClientSession,
        downloads: asyncio.Semaphore,
        workers: Workers,
        facts: Facts,
    ) -> None:
        self._kind = kind
        self._bounds = bounds
        self._folder = folder
        self._session = session
        self._downloads = downloads
        self._workers = workers
        self._facts = facts
        self._tokens: dict[str, _Job] = {}
        self._jobs = Keeping(
            seconds=bounds.kept_seconds, count=bounds.max_kept_jobs, now=time.monotonic, forget=self._forget
        )

    async def submit(self, submission: Submission) -> bool:
        """Begin the job in the background."""
        if self._jobs.get(submission.job_id) is not None:
            return False
        if self._jobs.live_count >= self._bounds.max_live_jobs:
            raise Unavailable(f"{self._bounds.max_live_jobs} jobs are waiting or at work; no more are taken now.")
        job = _Job(self._folder)
        self._jobs.add(submission.job_id, job)
        job.work = asyncio.create_task(self._work(submission, job), name=f"{self._kind} {submission.job_id}")
        return True

    async def look(self, job_id: str) -> State:
        """Tell how far the job is; the wish to be asked again grows with its age."""
        job = self._jobs.get(job_id)
        if job is None:
            raise NotFound(f"There is no job {job_id} here, or it finished too long ago.")
        if job.failure is not None:
            return job.failure
        if job.size is None:
            age = time.monotonic() - job.began
            return NotReadyYet(min(LONGEST_RETRY_AFTER, 1 + int(age / 4)))
        if job.size > self._bounds.max_inline_bytes:
            return Elsewhere(job.token)
        with await _opened(job) as file:
            return Inline(await asyncio.to_thread(file.read))

    @asynccontextmanager
    async def result(self, token: str) -> AsyncIterator[Streamed]:
        """Open a large result."""
        job = self._tokens.get(token)
        if job is None or job.size is None:
            raise NotFound(NO_RESULT)
        with await _opened(job) as file:
            yield Streamed(job.size, _chunks(file))

    async def close(self) -> None:
        """Stop what is at work and remove every file."""
        works = [job.work for job in self._jobs.clear() if job.work is not None]
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)

    async def _work(self, submission: Submission, job: _Job) -> None:
        job_id = submission.job_id
        try:
            job.size = await self._extract(submission.file_url, job.result_path)
        except CannotExtract as error:
            job.failure = error.failure
        except Exception as error:  # noqa: BLE001 - whatever it is, the job must end with it
            job.failure = Failure("internal_error", f"The extractor failed: {type(error).__name__}: {error}")
        self._tokens[job.token] = job
        self._jobs.finish(job_id)
        if job.failure is not None:
            self._facts.tell(EXTRACTION_FAILED, kind=self._kind, job_id=job_id, reason=job.failure.message)
        else:
            self._facts.tell(EXTRACTION_FINISHED, kind=self._kind, job_id=job_id, size=job.size)

    async def _extract(self, file_url: str, result_path: Path) -> int:
        file_path = result_path.with_suffix(".file")
        try:
            async with self._downloads:
                fetched = await fetch(
                    self._session,
                    file_url,
                    file_path,
                    max_bytes=self._bounds.max_file_bytes,
                    time_limit=self._bounds.download_seconds,
                )
            task = Task(
                kind=self._kind,
                path=str(file_path),
                result_path=str(result_path),
                declared_type=fetched.declared_type,
                name=fetched.name,
            )
            done = await self._workers.run(task)
        finally:
            file_path.unlink(missing_ok=True)
        if done.failure is not None:
            raise CannotExtract(done.failure.code, done.failure.message)
        return done.size

    def _forget(self, job: _Job) -> None:
        self._tokens.pop(job.token, None)
        job.result_path.unlink(missing_ok=True)


async def _opened(job: _Job) -> BinaryIO:
    try:
        return await asyncio.to_thread(job.result_path.open, "rb")
    except FileNotFoundError:
        raise NotFound(NO_RESULT) from None


async def _chunks(file: BinaryIO) -> AsyncIterator[bytes]:
    while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
        yield chunk
