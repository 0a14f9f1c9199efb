"""The limits of a job: how often, how many times, how long (story 13)."""

from datetime import datetime, timedelta

import msgspec

from fluxx.model.job import Job


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers that end or pace a job; all durations in seconds. Made from the settings.

    ``lease`` is how long a claimed job stays with a silent worker.
    """

    max_submit_attempts: int = 5
    max_poll_attempts: int = 720
    max_poll_errors: int = 10
    poll_interval: float = 5.0
    poll_backoff_factor: float = 1.5
    poll_max_interval: float = 60.0
    retry_base: float = 1.0
    retry_cap: float = 60.0
    job_timeout: float = 3600.0
    lease: float = 15.0


def deadline_of(created_at: datetime, limits: Limits) -> datetime:
    """Return the moment at which a job created then is given up (``JOB_TIMEOUT_SECONDS``)."""
    return created_at + timedelta(seconds=limits.job_timeout)


def is_over(job: Job, now: datetime) -> bool:
    """Whether the job's deadline has come."""
    return now >= job.deadline_at


def words(job: Job) -> str:
    """Return the reason to give when the deadline ends a job, in words an operator can act on."""
    seconds = (job.deadline_at - job.created_at).total_seconds()
    return f"Gave up at the deadline, {seconds:g} s after the job was queued (JOB_TIMEOUT_SECONDS)."
