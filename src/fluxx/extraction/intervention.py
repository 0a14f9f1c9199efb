"""What an operator can do to a job: cancel it, or run it again. Called by the API and the CLI."""

from datetime import datetime
from typing import Final
from uuid import UUID

from uuid_utils.compat import uuid7

from fluxx.clock import Clock
from fluxx.errors import BadInput, Conflict
from fluxx.model import transitions
from fluxx.model.deadlines import Limits, deadline_of
from fluxx.model.job import Job, Status
from fluxx.model.outcome import Refused
from fluxx.ports.jobs import Acceptance, JobReader, JobStore
from fluxx.telemetry import JOB_CANCELLED, Facts

SEIZE_LEASE: Final = 30.0
"""Seconds: how long a cancellation may take before the job falls due again."""


class Intervention:
    """Cancels and retries jobs. Both are safe to ask for twice."""

    def __init__(self, *, store: JobStore, reader: JobReader, limits: Limits, clock: Clock, facts: Facts) -> None:
        self._store = store
        self._reader = reader
        self._limits = limits
        self._clock = clock
        self._facts = facts

    async def cancel(self, job_id: UUID, *, reason: str | None = None) -> Job:
        """Fail the job, saying that it was cancelled and for what ``reason``; work that is under way is dropped.

        Raises ``NotFound``, ``Conflict`` where the job is final, or ``BadInput`` for a reason that nobody could read.
        """
        told = _told(reason)
        job = await self._store.seize(job_id, lease=SEIZE_LEASE)
        transition = transitions.apply(job, Refused(told), now=self._clock.now(), limits=self._limits)
        if not await self._store.apply(transition):
            raise Conflict(f"Job {job_id} was changed by somebody else at the same moment; try again.")
        self._facts.tell(JOB_CANCELLED, job_id=job_id)
        return transition.job

    async def retry(self, job_id: UUID) -> Job:
        """Queue a new job for the same file and extractor; asked twice, return the same new job.

        Raises ``NotFound``, or ``Conflict`` where the job is not final.
        """
        old = await self._reader.job(job_id)
        if not old.status.is_final:
            raise Conflict(f"Job {job_id} is {old.status}; only a job that succeeded or failed can be retried.")
        new = new_job_like(old, now=self._clock.now(), limits=self._limits)
        accepted = await self._store.accept(Acceptance(new.file_id, (transitions.queue(new),)))
        return (*accepted.new, *accepted.known)[0]


def _told(reason: str | None) -> str:
    if reason is None:
        return "Cancelled by an operator."
    if not reason.strip() or not reason.strip().isprintable():
        raise BadInput("reason must be printable and not blank.", field="reason")
    return f"Cancelled by an operator: {reason.strip()}"


def new_job_like(old: Job, *, now: datetime, limits: Limits) -> Job:
    """Return a fresh queued job for the file and extractor of ``old``, tied to it by its key."""
    return Job(
        job_id=uuid7(),
        file_id=old.file_id,
        client_application_id=old.client_application_id,
        client_application_extractor_id=old.client_application_extractor_id,
        status=Status.QUEUED,
        status_message=None,
        created_at=now,
        updated_at=now,
        deadline_at=deadline_of(now, limits),
        due_at=now,
        idempotency_key=f"retry:{old.job_id}",
        trace_context=old.trace_context,
    )
