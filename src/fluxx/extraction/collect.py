"""Collect: bring a ready result into the blob store, byte for byte (stories 5 and 10)."""

import asyncio
from collections.abc import AsyncIterator
from time import monotonic
from typing import Final
from urllib.parse import urljoin, urlsplit

from fluxx.clock import Clock
from fluxx.errors import EgressRefused
from fluxx.extraction import answers
from fluxx.extraction.answers import Ready
from fluxx.extraction.handed_out import HandedOut
from fluxx.model.job import Extractor, Job
from fluxx.model.outcome import Extracted, Outcome, Refused, Retry
from fluxx.ports.blobs import Blobs, Stored
from fluxx.ports.extractor import Answer, Call, ExtractorClient
from fluxx.ports.secrets import ApiKey, Secrets
from fluxx.scrubbing import secrets_of_url
from fluxx.telemetry import COLLECT_SECONDS, Facts

RESULT_TYPE: Final = "application/json"
DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class Collect:
    """Stores a result, inline or behind a ``resultUrl``; it is readable before anybody is told."""

    def __init__(
        self,
        *,
        client: ExtractorClient,
        secrets: Secrets,
        blobs: Blobs,
        handed_out: HandedOut,
        clock: Clock,
        facts: Facts,
        timeout: float,
        max_bytes: int,
    ) -> None:
        self._client = client
        self._facts = facts
        self._secrets = secrets
        self._blobs = blobs
        self._handed_out = handed_out
        self._clock = clock
        self._timeout = timeout
        self._max_bytes = max_bytes

    async def __call__(self, job: Job, ready: Ready, *, extractor: Extractor, base_url: str, polled: bool) -> Outcome:
        """Store the result of ``job``; ``base_url`` is what a relative ``resultUrl`` is relative to."""
        began = monotonic()
        with self._facts.span("store result", job_id=job.job_id):
            outcome = await self._collected(job, ready, extractor, base_url, polled=polled)
        self._facts.observe(COLLECT_SECONDS, monotonic() - began, type(outcome).__name__)
        return outcome

    async def _collected(self, job: Job, ready: Ready, extractor: Extractor, base_url: str, *, polled: bool) -> Outcome:
        if ready.result_url is None:
            stored = await self._store(job, ready.inline or b"")
            return _extracted(job, stored, polled=polled)
        try:
            url = _absolute(ready.result_url, base_url)
        except ValueError:
            return Refused("The extractor gave a resultUrl that is no URL.")
        left = (job.deadline_at - self._clock.now()).total_seconds()
        try:
            async with asyncio.timeout(max(left, self._timeout)):
                return await self._download(job, url, extractor, polled=polled)
        except EgressRefused as refusal:
            raise EgressRefused(f"{refusal} The extractor named it as resultUrl.") from refusal
        except TimeoutError:
            return Retry("The result wasn't downloaded to its end before the job's deadline.")

    async def _download(self, job: Job, url: str, extractor: Extractor, *, polled: bool) -> Outcome:
        key = await self._key_for(url, extractor)
        call = Call(method="GET", url=url, api_key=key, timeout=self._timeout, max_bytes=self._max_bytes)
        async with self._client.download(call) as download:
            bad = await self._badness(download.answer, job, url)
            if bad is not None:
                return bad
            stored = await self._store(job, _pieces(download.chunks))
        return _extracted(job, stored, polled=polled)

    async def _store(self, job: Job, content: bytes | AsyncIterator[bytes]) -> Stored:
        """Store a result once: a worker that comes late must not put another in the place of the one announced."""
        return await self._blobs.write(job.result_path, content, content_type=RESULT_TYPE, once=True)

    async def _badness(self, answer: Answer, job: Job, url: str) -> Retry | Refused | None:
        now = self._clock.now()
        if answers.downloaded(answer, now=now) is None:
            return None
        secrets = [*secrets_of_url(url), *await self._handed_out.secrets_of(job)]
        return answers.downloaded(answer, now=now, secrets=secrets)

    async def _key_for(self, url: str, extractor: Extractor) -> ApiKey | None:
        """Return the key only where the result lies at an origin that was registered with it."""
        registered = {origin(own) for own in (extractor.extraction_url, extractor.polling_url) if own}
        if origin(url) not in registered:
            return None
        return await self._secrets.api_key(extractor.client_application_extractor_id)


def _absolute(url: str, base_url: str) -> str:
    """Return the URL in full; raise ``ValueError`` where it is none."""
    if not url.isprintable():
        raise ValueError("urljoin would pass over control characters, and fetch something else")
    joined = urljoin(base_url, url)
    origin(joined)
    return joined


def origin(url: str) -> tuple[str, str | None, int | None]:
    """Return scheme, host and port of a URL (RFC 6454), the port filled in."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or DEFAULT_PORTS.get(parts.scheme)


async def _pieces(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        yield chunk


def _extracted(job: Job, stored: Stored, *, polled: bool) -> Extracted:
    return Extracted(job.result_path, stored.size, stored.sha256, polled=polled)
