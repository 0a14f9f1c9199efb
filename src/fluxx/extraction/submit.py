"""Submit: hand the file's signed URL to the extractor (story 8). A result may come at once."""

from collections.abc import Sequence

import msgspec

from fluxx.clock import Clock
from fluxx.extraction import answers
from fluxx.extraction.answers import KeyRejected, Ready
from fluxx.extraction.asking import Asking, Meaning
from fluxx.extraction.catalogue import Catalogue
from fluxx.extraction.collect import Collect
from fluxx.extraction.handed_out import HandedOut
from fluxx.model.job import Job
from fluxx.model.outcome import Outcome
from fluxx.ports.extractor import Answer, Call
from fluxx.scrubbing import secrets_of_url


class Submit:
    """The step of a queued job."""

    def __init__(
        self,
        *,
        asking: Asking,
        catalogue: Catalogue,
        collect: Collect,
        handed_out: HandedOut,
        clock: Clock,
        timeout: float,
        max_bytes: int,
    ) -> None:
        self._asking = asking
        self._catalogue = catalogue
        self._collect = collect
        self._handed_out = handed_out
        self._clock = clock
        self._timeout = timeout
        self._max_bytes = max_bytes

    async def __call__(self, job: Job) -> Outcome:
        """Submit the job and say what came of it."""
        extractor = await self._catalogue.extractor(job.client_application_extractor_id)
        now = self._clock.now()
        file_url = await self._handed_out.file_url(job)
        call = Call(
            method="POST",
            url=extractor.extraction_url,
            headers=_headers(job),
            body=msgspec.json.encode({"fileUrl": file_url, "jobId": job.job_id}),
            timeout=self._timeout,
            max_bytes=self._max_bytes,
        )

        async def read(answer: Answer, keys: Sequence[str]) -> Meaning | KeyRejected:
            return answers.submission(answer, now=now, secrets=[*keys, *secrets_of_url(file_url)])

        meaning = await self._asking.ask(job.client_application_extractor_id, call, read)
        if isinstance(meaning, Ready):
            return await self._collect(job, meaning, extractor=extractor, base_url=call.url, polled=False)
        return meaning


def _headers(job: Job) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Idempotency-Key": str(job.job_id)}
    return headers | ({"traceparent": job.trace_context} if job.trace_context else {})
