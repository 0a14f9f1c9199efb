"""Poll: ask the extractor whether the job's result is ready, and collect it if so (story 9)."""

from typing import Final

from fluxx.clock import Clock
from fluxx.extraction import answers
from fluxx.extraction.answers import Ready
from fluxx.extraction.asking import Asking
from fluxx.extraction.catalogue import Catalogue
from fluxx.extraction.collect import Collect
from fluxx.model.job import Job
from fluxx.model.outcome import Outcome
from fluxx.ports.extractor import Call

NOT_FOUND_GRACE: Final = 3
"""How many times a 404 is taken for "not known yet" before the first answered poll."""


class Poll:
    """The step of a started job."""

    def __init__(
        self,
        *,
        asking: Asking,
        catalogue: Catalogue,
        collect: Collect,
        clock: Clock,
        timeout: float,
        max_bytes: int,
    ) -> None:
        self._asking = asking
        self._catalogue = catalogue
        self._collect = collect
        self._clock = clock
        self._timeout = timeout
        self._max_bytes = max_bytes

    async def __call__(self, job: Job) -> Outcome:
        """Poll the job once and say what came of it."""
        extractor = await self._catalogue.extractor(job.client_application_extractor_id)
        now = self._clock.now()
        grace = job.poll_attempt_count == 0 and job.error_count < NOT_FOUND_GRACE
        call = Call(
            method="GET",
            url=extractor.polling_url_of(job.job_id),
            headers={"traceparent": job.trace_context} if job.trace_context else {},
            timeout=self._timeout,
            max_bytes=self._max_bytes,
        )
        meaning = await self._asking.ask(
            job.client_application_extractor_id,
            call,
            lambda answer, secrets: answers.polled(answer, now=now, grace=grace, secrets=secrets),
        )
        if isinstance(meaning, Ready):
            return await self._collect(job, meaning, extractor=extractor, base_url=call.url, polled=True)
        return meaning
