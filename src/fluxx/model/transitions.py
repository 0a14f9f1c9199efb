"""The table of states and rules, pure: (job, outcome, now) → new row, history rows, events.

This is the only place that decides what an outcome means. The store writes what comes out of it in
one transaction (fenced by the job's claim token); ``docs/state-machine.md`` is drawn from ``TABLE``.

    Queued ──Submitted──▶ Started ──Extracted──▶ Succeeded
       │                     └──Refused, limit──▶ Failed
       └──Refused, limit──▶ Failed
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, TypeAlias
from uuid import UUID, uuid5

import msgspec
from msgspec.structs import replace

from fluxx.model import deadlines
from fluxx.model.backoff import outage_wait, poll_wait, retry_wait, spread
from fluxx.model.deadlines import Limits
from fluxx.model.job import Job, JobStatus, Status
from fluxx.model.keeping import Keep, stay
from fluxx.model.outcome import Extracted, NotReady, Outcome, Refused, Retry, Submitted


class EventType(StrEnum):
    """The four events of a job (story 11)."""

    JOB_QUEUED = "JobQueued"
    JOB_STARTED = "JobStarted"
    JOB_SUCCEEDED = "JobSucceeded"
    JOB_FAILED = "JobFailed"


EVENT_OF: Final = {
    Status.QUEUED: EventType.JOB_QUEUED,
    Status.STARTED: EventType.JOB_STARTED,
    Status.SUCCEEDED: EventType.JOB_SUCCEEDED,
    Status.FAILED: EventType.JOB_FAILED,
}

LONGEST_REASON: Final = 750
"""Characters kept of an outcome's message or reason."""

TABLE: Final[dict[Status, dict[str, frozenset[Status]]]] = {
    Status.QUEUED: {
        "Submitted": frozenset({Status.STARTED}),
        "Extracted": frozenset({Status.SUCCEEDED}),
        "Retry": frozenset({Status.QUEUED, Status.FAILED}),
        "Refused": frozenset({Status.FAILED}),
    },
    Status.STARTED: {
        "NotReady": frozenset({Status.STARTED, Status.FAILED}),
        "Extracted": frozenset({Status.SUCCEEDED}),
        "Retry": frozenset({Status.STARTED, Status.FAILED}),
        "Refused": frozenset({Status.FAILED}),
    },
    Status.SUCCEEDED: {},
    Status.FAILED: {},
}
"""Which outcomes a state accepts, and which states they can lead to. Final states accept none."""


class JobEvent(msgspec.Struct, frozen=True, kw_only=True):
    """What ``TOPIC_JOB_STATUS`` is told about a job (story 11).

    ``event_id`` is made from the job and the type, so that the same event can never have two ids.
    """

    event_id: UUID
    type: EventType
    job_id: UUID
    file_id: UUID
    client_application_extractor_id: UUID
    timestamp: datetime
    result_summary: str | None = None
    error_message: str | None = None
    trace_context: str | None = None


class Transition(msgspec.Struct, frozen=True):
    """What to write: the job's new row, new history rows in order, new events in order.

    ``claim_token`` is the fence the write must name, ``before`` the job as it was; both are None for
    a job that did not exist before.
    """

    job: Job
    history: tuple[JobStatus, ...]
    events: tuple[JobEvent, ...]
    claim_token: UUID | None = None
    before: Job | None = None


class IllegalTransition(Exception):
    """A step returned an outcome that its job's state doesn't accept: a bug, not an accident."""


_Change: TypeAlias = tuple[Job, tuple[JobStatus, ...]]


def queue(job: Job) -> Transition:
    """Return what is written for a new job (stories 7 and 12)."""
    return Transition(job, (_line(job, "Queued"),), (_event(job),))


def apply(
    job: Job, outcome: Outcome, *, now: datetime, limits: Limits, jitter: float = 0.0, keep: Keep | None = None
) -> Transition:
    """Return what ``outcome`` means for ``job``.

    ``jitter`` in [0, 1) is the chance used for the next waiting time; ``keep`` says how a job whose extractor is at
    work may stay with who asks. A job's time never goes back: where another worker's clock was ahead, its last moment
    stands for ``now``. Raises ``IllegalTransition`` where the state doesn't accept the outcome.
    """
    kind = type(outcome).__name__
    allowed = TABLE[job.status].get(kind)
    if allowed is None:
        raise IllegalTransition(f"a {job.status} job doesn't take {kind}")
    now = max(now, job.updated_at)
    match outcome:
        case Submitted():
            new, history = _submitted(job, outcome, now, limits, jitter, keep)
        case NotReady():
            new, history = _not_ready(job, outcome, now, limits, jitter, keep)
        case Extracted():
            new, history = _extracted(_freed(job, now), outcome)
        case Retry():
            new, history = _retry(_freed(job, now), outcome, limits, jitter)
        case Refused():
            new, history = _failed(_freed(job, now), _told(outcome.reason))
    return Transition(new, history, _events(job, new), job.claim_token, job)


def _freed(job: Job, now: datetime) -> Job:
    return replace(job, updated_at=now, claim_token=None)


def _submitted(
    job: Job, outcome: Submitted, now: datetime, limits: Limits, jitter: float, keep: Keep | None
) -> _Change:
    message = _told(outcome.message)
    due_at = _due_at(job, now, poll_wait(0, limits, jitter, wish=outcome.poll_after))
    due_at, token = stay(due_at, now, keep)
    new = replace(
        job,
        status=Status.STARTED,
        status_message=message,
        updated_at=now,
        error_count=0,
        due_at=due_at,
        claim_token=token,
    )
    return new, (_line(new, message),)


def _not_ready(job: Job, outcome: NotReady, now: datetime, limits: Limits, jitter: float, keep: Keep | None) -> _Change:
    polls = job.poll_attempt_count + 1
    message = f"Not ready at poll {polls}."
    due_at = _due_at(job, now, poll_wait(polls, limits, jitter, wish=outcome.poll_after))
    due_at, token = stay(due_at, now, keep)
    new = replace(
        job,
        poll_attempt_count=polls,
        last_poll_attempt_at=now,
        updated_at=now,
        error_count=0,
        status_message=message,
        due_at=due_at,
        claim_token=token,
    )
    line = _line(new, message)
    reason = _poll_limit_reason(new, limits)
    if reason:
        failed, last = _failed(new, reason)
        return failed, (line, *last)
    return new, (line,)


def _poll_limit_reason(job: Job, limits: Limits) -> str | None:
    if job.poll_attempt_count >= limits.max_poll_attempts:
        return f"Still not ready after {job.poll_attempt_count} polls, the most allowed (MAX_POLL_ATTEMPTS)."
    return deadlines.words(job) if deadlines.is_over(job, job.updated_at) else None


def _extracted(job: Job, outcome: Extracted) -> _Change:
    message = f"Result of {outcome.size} bytes stored."
    history: tuple[JobStatus, ...] = ()
    if job.status is Status.QUEUED:
        started = replace(job, status=Status.STARTED)
        history = (_line(started, "Submitted; the answer already held the result."),)
    if outcome.polled:
        job = replace(job, poll_attempt_count=job.poll_attempt_count + 1, last_poll_attempt_at=job.updated_at)
    new = replace(
        job,
        status=Status.SUCCEEDED,
        status_message=message,
        extractor_response=outcome.path,
        result_size=outcome.size,
        result_sha256=outcome.sha256,
        error_count=0,
        completed_at=job.updated_at,
        due_at=None,
    )
    return new, (*history, _line(new, message))


def _retry(job: Job, outcome: Retry, limits: Limits, jitter: float) -> _Change:
    reason = _told(outcome.reason)
    errors = job.error_count + 1 if outcome.counted else job.error_count
    job = replace(job, error_count=errors)
    if deadlines.is_over(job, job.updated_at):
        return _failed(job, f"{deadlines.words(job)} Last trouble: {reason}")
    limit, setting = _error_limit(job, limits)
    if outcome.counted and errors >= limit:
        return _failed(job, f"{reason} Gave up after {errors} of {limit} attempts ({setting}).")
    wait = retry_wait(errors, limits, jitter) if outcome.counted else outage_wait(_unheard(job), limits, jitter)
    message = f"{reason} Trying again."
    due_at = _due_at(job, job.updated_at, max(wait, spread(outcome.after or 0.0, jitter)))
    new = replace(job, status_message=message, due_at=due_at)
    return new, (_line(new, message),)


def _unheard(job: Job) -> float:
    """Return the seconds since the extractor last answered a poll, or since the job was queued."""
    return (job.updated_at - (job.last_poll_attempt_at or job.created_at)).total_seconds()


def _error_limit(job: Job, limits: Limits) -> tuple[int, str]:
    if job.status is Status.QUEUED:
        return limits.max_submit_attempts, "MAX_SUBMIT_ATTEMPTS"
    return limits.max_poll_errors, "MAX_POLL_ERRORS"


def _failed(job: Job, reason: str) -> _Change:
    new = replace(
        job,
        status=Status.FAILED,
        status_message=reason,
        completed_at=job.updated_at,
        due_at=None,
        claim_token=None,
    )
    return new, (_line(new, reason),)


def _due_at(job: Job, now: datetime, wait: float) -> datetime:
    """Return when the job falls due: after ``wait`` seconds, and at its deadline at the latest."""
    left = max((job.deadline_at - now).total_seconds(), 0.0)
    return now + timedelta(seconds=min(max(wait, 0.0), left))


def _told(text: str) -> str:
    """Bound what others made up, so that a ``StatusMessage`` with our own words stays under 1,000 characters."""
    return text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 1] + "…"


def _line(job: Job, message: str | None) -> JobStatus:
    """Return the history row for ``job`` as it is now; its attempt number counts answered polls."""
    return JobStatus(
        job_id=job.job_id,
        status=job.status,
        message=message,
        attempt_number=job.poll_attempt_count,
        timestamp=job.updated_at,
    )


def _events(old: Job, new: Job) -> tuple[JobEvent, ...]:
    if old.status is new.status:
        return ()
    if old.status is Status.QUEUED and new.status is Status.SUCCEEDED:
        return _event(replace(new, status=Status.STARTED)), _event(new)
    return (_event(new),)


def _event(job: Job) -> JobEvent:
    event_type = EVENT_OF[job.status]
    return JobEvent(
        event_id=uuid5(job.job_id, event_type),
        type=event_type,
        job_id=job.job_id,
        file_id=job.file_id,
        client_application_extractor_id=job.client_application_extractor_id,
        timestamp=job.updated_at,
        result_summary=_summary(job) if job.status is Status.SUCCEEDED else None,
        error_message=job.status_message if job.status is Status.FAILED else None,
        trace_context=job.trace_context,
    )


def _summary(job: Job) -> str:
    return f"{job.result_size} bytes at {job.extractor_response}, sha256 {job.result_sha256}"


Apply: TypeAlias = Callable[[Job, Outcome], Transition]
"""``apply`` with time, limits and chance already bound: what the extraction steps are given."""
