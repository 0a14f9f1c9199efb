"""Poll: ask the extractor whether the job's result is ready, and collect it if so (story 9)."""

from collections.abc import Sequence
from typing import Final

from fluxx.clock import Clock
from fluxx.extraction import answers
from fluxx.extraction.answers import KeyRejected, Ready
from fluxx.extraction.asking import Asking, Meaning
from fluxx.extraction.catalogue import Catalogue
from fluxx.extraction.collect import Collect
from fluxx.extraction.handed_out import HandedOut
from fluxx.model.job import Job
from fluxx.model.outcome import NotReady, Outcome
from fluxx.ports.extractor import Answer, Call

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

        async def read(answer: Answer, keys: Sequence[str]) -> Meaning | KeyRejected:
            found = answers.polled(answer, now=now, grace=grace, secrets=keys)
            if isinstance(found, NotReady | Ready):
                return found
            secrets = [*keys, *await self._handed_out.secrets_of(job)]
            return answers.polled(answer, now=now, grace=grace, secrets=secrets)

        meaning = await self._asking.ask(job.client_application_extractor_id, call, read)
        if isinstance(meaning, Ready):
            return await self._collect(job, meaning, extractor=extractor, base_url=call.url, polled=True)
        return meaning
