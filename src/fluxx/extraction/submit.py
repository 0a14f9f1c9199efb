"""Submit: hand the file's signed URL to the extractor (story 8). A result may come at once."""

from datetime import datetime, timedelta
from typing import Final

import msgspec

from fluxx.clock import Clock
from fluxx.extraction import answers
from fluxx.extraction.answers import Ready
from fluxx.extraction.asking import Asking
from fluxx.extraction.catalogue import Catalogue
from fluxx.extraction.collect import Collect
from fluxx.model.job import File, Job
from fluxx.model.outcome import Outcome
from fluxx.ports.blobs import Blobs
from fluxx.ports.extractor import Call

LARGEST_URL: Final = 16 * 1024
"""Bytes read of a stored upstream URL."""


class Submit:
    """The step of a queued job."""

    def __init__(
        self,
        *,
        asking: Asking,
        catalogue: Catalogue,
        collect: Collect,
        blobs: Blobs,
        clock: Clock,
        timeout: float,
        url_ttl: float,
        max_bytes: int,
    ) -> None:
        self._asking = asking
        self._catalogue = catalogue
        self._collect = collect
        self._blobs = blobs
        self._clock = clock
        self._timeout = timeout
        self._url_ttl = timedelta(seconds=url_ttl)
        self._max_bytes = max_bytes

    async def __call__(self, job: Job) -> Outcome:
        """Submit the job and say what came of it."""
        extractor = await self._catalogue.extractor(job.client_application_extractor_id)
        now = self._clock.now()
        file_url = await self._file_url(job, now)
        call = Call(
            method="POST",
            url=extractor.extraction_url,
            headers=_headers(job),
            body=msgspec.json.encode({"fileUrl": file_url, "jobId": job.job_id}),
            timeout=self._timeout,
            max_bytes=self._max_bytes,
        )
        meaning = await self._asking.ask(
            job.client_application_extractor_id,
            call,
            lambda answer, secrets: answers.submission(answer, now=now, secrets=[*secrets, file_url]),
        )
        if isinstance(meaning, Ready):
            return await self._collect(job, meaning, extractor=extractor, base_url=call.url, polled=False)
        return meaning

    async def _file_url(self, job: Job, now: datetime) -> str:
        """Return a fresh signed URL that outlives the job, or the one received from upstream."""
        file = await self._catalogue.file(job.file_id)
        if file.is_remote:
            return await self._received_url(file)
        return await self._blobs.signed_url(file.blob_path, expires_at=max(now + self._url_ttl, job.deadline_at))

    async def _received_url(self, file: File) -> str:
        async with self._blobs.open(file.blob_path, end=LARGEST_URL) as opened:
            return b"".join([chunk async for chunk in opened.chunks]).decode()


def _headers(job: Job) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Idempotency-Key": str(job.job_id)}
    return headers | ({"traceparent": job.trace_context} if job.trace_context else {})
