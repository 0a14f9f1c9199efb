"""When a job is given up, and the words for it."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from msgspec.structs import replace

from fluxx.model.deadlines import Limits, deadline_of, is_over, words
from fluxx.model.job import Job, Status
from fluxx.settings import Settings

START = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
LIMITS = Limits(job_timeout=90.5)
JOB = Job(
    job_id=UUID(int=1),
    file_id=UUID(int=2),
    client_application_id=UUID(int=3),
    client_application_extractor_id=UUID(int=4),
    status=Status.QUEUED,
    status_message=None,
    created_at=START,
    updated_at=START,
    deadline_at=deadline_of(START, LIMITS),
    due_at=START,
    idempotency_key="first",
)


def test_the_deadline_counts_from_the_queueing() -> None:
    assert deadline_of(START, LIMITS) == START + timedelta(seconds=90.5)


def test_the_deadline_itself_is_over_and_the_moment_before_is_not() -> None:
    assert is_over(JOB, JOB.deadline_at)
    assert is_over(JOB, JOB.deadline_at + timedelta(days=1))
    assert not is_over(JOB, JOB.deadline_at - timedelta(microseconds=1))


def test_the_words_name_the_setting_and_the_jobs_own_time() -> None:
    assert words(JOB) == "Gave up at the deadline, 90.5 s after the job was queued (JOB_TIMEOUT_SECONDS)."
    longer = replace(JOB, deadline_at=START + timedelta(hours=1))
    assert words(longer) == "Gave up at the deadline, 3600 s after the job was queued (JOB_TIMEOUT_SECONDS)."


def test_the_settings_defaults_are_the_limits_defaults() -> None:
    assert Settings.model_construct().limits == Limits()
