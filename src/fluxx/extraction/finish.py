"""Finish: run a claimed job's step and write down what its outcome means.

The one place where an outcome becomes a transition. The write is fenced: if the claim was lost,
the work is dropped and somebody else's counts.
"""

import asyncio
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from time import monotonic
from typing import Final
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from fluxx.clock import Clock
from fluxx.errors import Unavailable
from fluxx.extraction.asking import SecretsOf, Step, guarded
from fluxx.model import deadlines, transitions
from fluxx.model.deadlines import Limits
from fluxx.model.job import Job, Status
from fluxx.model.keeping import Keep
from fluxx.model.kinds import kind_of
from fluxx.model.outcome import Extracted, NotReady, Outcome, Refused, Retry, Submitted
from fluxx.model.transitions import Transition
from fluxx.ports.jobs import JobStore
from fluxx.telemetry import (
    CLAIM_LOST,
    JOB_FAILED,
    JOB_NOT_READY,
    JOB_RETRYING,
    JOB_STARTED,
    JOB_SUCCEEDED,
    OUTCOME_DROPPED,
    POLL_SECONDS,
    STEP_FAILED,
    SUBMIT_SECONDS,
    Fact,
    Facts,
)

WRITE_REST: Final = 1.0
"""Seconds between tries to write an outcome while the database is away."""

WRITE_PATIENCE: Final = 30.0
"""Seconds for which an outcome waits for the database; then the job falls due again by itself."""

UNWRITABLE: Final = Retry("Internal error (what came of the call can't be written); see the log.")

NAMES: Final = {Status.QUEUED: "submit", Status.STARTED: "poll"}
MEASURES: Final = {Status.QUEUED: SUBMIT_SECONDS, Status.STARTED: POLL_SECONDS}

GOES_ON: Final[dict[type[Outcome], Fact]] = {
    Submitted: JOB_STARTED,
    NotReady: JOB_NOT_READY,
    Extracted: JOB_SUCCEEDED,
    Retry: JOB_RETRYING,
}
"""What is told of an outcome after which the job hasn't failed."""


class Steps(msgspec.Struct, frozen=True, kw_only=True):
    """What is done for a queued job and for a started one; ``secrets_of`` says what must not be told of a job."""

    submit: Step
    poll: Step
    secrets_of: SecretsOf


class Finish:
    """Called by the dispatcher for every claimed job. ``announce`` is told when events were written."""

    def __init__(
        self,
        *,
        steps: Steps,
        store: JobStore,
        limits: Limits,
        clock: Clock,
        facts: Facts,
        chance: random.Random,
        announce: Callable[[], None],
    ) -> None:
        self._steps: dict[Status, Step] = {Status.QUEUED: steps.submit, Status.STARTED: steps.poll}
        self._secrets_of = steps.secrets_of
        self._store = store
        self._limits = limits
        self._lease = timedelta(seconds=limits.lease)
        self._clock = clock
        self._facts = facts
        self._chance = chance
        self._announce = announce

    async def __call__(self, job: Job) -> Job | None:
        """Bring the job one step on; return it as it was written, None if it wasn't (or not by us)."""
        if not self._facts.traced(job.trace_context):
            return await self._seen_through(job, await self._outcome(job))
        about = {"job_id": job.job_id, "extractor": job.client_application_extractor_id}
        with self._facts.span(NAMES[job.status], kind="client", parent=job.trace_context, **about) as span:
            # The step's calls carry on the span's trace; the job itself stays below what accepted it.
            traced = span.traceparent != job.trace_context
            outcome = await self._outcome(replace(job, trace_context=span.traceparent) if traced else job)
            span.outcome = type(outcome).__name__
            return await self._seen_through(job, outcome)

    async def _seen_through(self, job: Job, outcome: Outcome) -> Job | None:
        """Finish the job; where its outcome itself can't be written, with one that says so, or it would never end."""
        for told in (outcome, UNWRITABLE):
            try:
                return await self._finished(job, told)
            except Unavailable as away:
                self._facts.tell(OUTCOME_DROPPED, job_id=job.job_id, error=away)
                return None
            except Exception as error:  # noqa: BLE001 - a fault of ours must not take the worker with it
                await self._tell_failure(job, error)
        return None

    async def _finished(self, job: Job, outcome: Outcome) -> Job | None:
        transition = transitions.apply(
            job,
            outcome,
            now=self._clock.now(),
            limits=self._limits,
            jitter=self._chance.random(),
            keep=Keep(uuid4(), self._lease),
        )
        try:
            written = await self._store.apply(transition)
        except Unavailable:
            written = await self._written_later(transition)
        if not written:
            self._facts.tell(CLAIM_LOST, job_id=job.job_id)
            return None
        if transition.events:
            self._announce()
        self._tell(outcome, transition.job)
        return transition.job

    def _tell(self, outcome: Outcome, job: Job) -> None:
        message = job.status_message
        if job.status is Status.FAILED:
            self._facts.tell(JOB_FAILED, job_id=job.job_id, message=message, kind=kind_of(message).name)
        else:
            self._facts.tell(GOES_ON[type(outcome)], job_id=job.job_id, message=message)

    async def _outcome(self, job: Job) -> Outcome:
        if job.status is Status.QUEUED and deadlines.is_over(job, self._clock.now()):
            return Refused(deadlines.words(job))  # a started job is asked once more: its result may be ready
        began = monotonic()
        try:
            outcome = await guarded(self._steps[job.status], job, self._secrets_of)
        except Exception as error:  # noqa: BLE001 - a fault of ours must not take the worker with it
            await self._tell_failure(job, error)
            outcome = Retry(f"Internal error ({type(error).__name__}); see the log.")
        self._facts.observe(MEASURES[job.status], monotonic() - began, type(outcome).__name__)
        return outcome

    async def _tell_failure(self, job: Job, error: Exception) -> None:
        """Tell an error that nobody foresaw; its traceback only where all is known that must not be in it."""
        trace: Exception | None = error
        secrets: Sequence[str] = ()
        try:
            secrets = await self._secrets_of(job)
        except Exception:  # noqa: BLE001 - the first error counts
            trace = None
        self._facts.tell(STEP_FAILED, trace=trace, secrets=secrets, job_id=job.job_id, error=type(error).__name__)

    async def _written_later(self, transition: Transition) -> bool:
        """Write, patiently: the extractor has done its part, and a lost outcome costs it again."""
        for _ in range(int(WRITE_PATIENCE / WRITE_REST) - 1):
            await asyncio.sleep(WRITE_REST)
            with suppress(Unavailable):
                return await self._store.apply(transition)
        await asyncio.sleep(WRITE_REST)
        return await self._store.apply(transition)
