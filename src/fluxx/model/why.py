"""Why a job is where it is, in plain sentences: what happened, what it waits for, until when, what to do. Pure.

Shown by ``fluxx why`` and on the job's page. It says only what the job's own row and history tell.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from fluxx.model.deadlines import Limits
from fluxx.model.job import Job, JobStatus, Status
from fluxx.model.keeping import begins_at
from fluxx.model.kinds import kind_of

OVERDUE: Final = timedelta(seconds=15)
"""A job that is due for longer is waiting for a worker, not for its turn."""


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known of a job at one moment, with its extractor's name and whether that is active."""

    job: Job
    history: Sequence[JobStatus]
    extractor: str
    is_active: bool
    limits: Limits
    now: datetime


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """One of the limits that can end a job: how much of it is used, and when it would bite at the present pace."""

    name: str
    used: str
    allowed: str
    share: float
    bites_at: datetime | None


class Why(msgspec.Struct, frozen=True, kw_only=True):
    """The answer. ``until`` is when the waiting ends, ``todo`` None where nothing has to be done."""

    happened: str
    waiting: str | None = None
    until: datetime | None = None
    todo: str | None = None


def why(situation: Situation) -> Why:
    """Return the answer for a job."""
    match situation.job.status:
        case Status.SUCCEEDED:
            return _succeeded(situation)
        case Status.FAILED:
            return _failed(situation)
        case Status.QUEUED:
            return _waiting(situation, _queued(situation), "submitted", "Its submission")
        case Status.STARTED:
            return _waiting(situation, _started(situation), "polled", "The next poll")


def _succeeded(it: Situation) -> Why:
    taken = (it.job.completed_at or it.now) - it.job.created_at
    polls = f"after {_times(it.job.poll_attempt_count, 'poll')}" if it.job.poll_attempt_count else "without a poll"
    return Why(happened=f"{it.extractor} gave a result of {it.job.result_size} bytes {words_for(taken)} in, {polls}.")


def _failed(it: Situation) -> Why:
    taken = words_for((it.job.completed_at or it.now) - it.job.created_at)
    reason = it.job.status_message or "No reason was given."
    return Why(happened=f"It failed after {taken}. {reason}", todo=kind_of(it.job.status_message).advice)


def _queued(it: Situation) -> str:
    if it.job.error_count:
        return (
            f"{_times(it.job.error_count, 'submission')} to {it.extractor} came to nothing. "
            f"Last trouble: {it.job.status_message or 'unknown.'}"
        )
    return f"It was queued for {it.extractor} {words_for(it.now - it.job.created_at)} ago."


def _started(it: Situation) -> str:
    began = next((line.timestamp for line in it.history if line.status is Status.STARTED), it.job.updated_at)
    taken = f"{it.extractor} took the file {words_for(it.now - began)} ago"
    polls, errors = it.job.poll_attempt_count, it.job.error_count
    said = f"{taken}; {_times(polls, 'poll')} said that it isn't ready." if polls else f"{taken}."
    if errors:
        last = it.job.status_message or "unknown."
        return f"{said} {_times(errors, 'poll')} in a row came to nothing. Last trouble: {last}"
    return said if polls else f"{taken}, and wasn't polled yet."


def _waiting(it: Situation, happened: str, done: str, subject: str) -> Why:
    begins = begins_at(it.job, it.limits) or it.now
    due = it.job.due_at or it.now
    if begins <= it.now < due:
        return Why(
            happened=happened,
            waiting=f"A worker has it in hand: it is being {done}. If the worker dies, another takes over.",
            until=due,
        )
    if it.now - due > OVERDUE:
        late = words_for(it.now - due)
        return Why(
            happened=happened,
            waiting=f"It has been due for {late}, and no worker took it.",
            until=it.job.deadline_at,
            todo="See whether a worker runs (fluxx up or fluxx worker), and whether the others are busy.",
        )
    todo = kind_of(it.job.status_message).advice if it.job.error_count else None
    if not it.is_active and todo is None:
        todo = "Nothing: its extractor is inactive and gets no new jobs, but this one goes on."
    return Why(happened=happened, waiting=f"{subject} is due.", until=begins, todo=todo)


def limits_of(job: Job, limits: Limits, now: datetime) -> Sequence[Limit]:
    """Return the limits of a live job, the one that bites next first; none for a final job."""
    if job.status.is_final:
        return []
    found = [_deadline(job, now), _errors(job, limits)]
    if job.status is Status.STARTED:
        found.append(_polls(job, limits))
    return sorted(found, key=lambda limit: (limit.bites_at is None, limit.bites_at or job.deadline_at))


def _deadline(job: Job, now: datetime) -> Limit:
    whole = job.deadline_at - job.created_at
    gone = min(max(now - job.created_at, timedelta()), whole)
    return Limit(
        name="JOB_TIMEOUT_SECONDS",
        used=words_for(gone),
        allowed=words_for(whole),
        share=gone / whole if whole else 1.0,
        bites_at=job.deadline_at,
    )


def _errors(job: Job, limits: Limits) -> Limit:
    queued = job.status is Status.QUEUED
    allowed = limits.max_submit_attempts if queued else limits.max_poll_errors
    last = job.error_count == allowed - 1
    return Limit(
        name="MAX_SUBMIT_ATTEMPTS" if queued else "MAX_POLL_ERRORS",
        used=str(job.error_count),
        allowed=f"{allowed}{'' if queued else ' in a row'}",
        share=job.error_count / allowed,
        bites_at=begins_at(job, limits) if last else None,
    )


def _polls(job: Job, limits: Limits) -> Limit:
    left = limits.max_poll_attempts - job.poll_attempt_count
    pace = timedelta(seconds=limits.poll_max_interval)
    at = (begins_at(job, limits) or job.updated_at) + min(max(left - 1, 0) * pace, timedelta(days=3650))
    return Limit(
        name="MAX_POLL_ATTEMPTS",
        used=str(job.poll_attempt_count),
        allowed=str(limits.max_poll_attempts),
        share=job.poll_attempt_count / limits.max_poll_attempts,
        bites_at=at if at < job.deadline_at else None,
    )


def words_for(span: timedelta) -> str:
    """Return a duration as people say it: ``1.4 s``, ``3 min 20 s``, ``2 h 5 min``, ``4 d 3 h``."""
    seconds = max(span.total_seconds(), 0.0)
    if seconds < 10:  # noqa: PLR2004 - tenths are of interest in short waits only
        return f"{seconds:.1f} s"
    for large, small, size, part in (("d", "h", 86400, 3600), ("h", "min", 3600, 60), ("min", "s", 60, 1)):
        if seconds >= size:
            rest = int(seconds % size // part)
            return f"{int(seconds // size)} {large}" + (f" {rest} {small}" if rest else "")
    return f"{seconds:.0f} s"


def _times(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
