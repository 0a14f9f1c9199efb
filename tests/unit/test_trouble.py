"""What is wrong now is said in sentences that are true, and nothing else is said."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from fluxx.dashboard.trouble import troubles
from fluxx.model.counts import Counts
from fluxx.model.job import Extractor, Job, Status
from fluxx.ports.observing import Backlog
from support.jobs import a_job

NOW = datetime(2026, 3, 1, 12, 0, 30, tzinfo=UTC)
LATE = NOW - timedelta(minutes=5)
AN_ID = UUID(int=1)
OCR = Extractor(
    client_application_extractor_id=AN_ID,
    client_application_id=AN_ID,
    name="OCR",
    extraction_url="https://ocr.example/",
    polling_url=None,
    is_active=True,
    created_at=NOW,
)
CALM = Backlog(oldest_due_at=NOW)
REJECTED = "The extractor rejected the API key: HTTP 401."


def said(
    backlog: Backlog = CALM,
    *,
    workers: Sequence[str] = ("a:1",),
    recent: Counts | None = None,
    all_time: Counts | None = None,
    failed: Sequence[Job] = (),
) -> list[str]:
    found = troubles(
        backlog,
        workers=workers,
        recent={AN_ID: recent or Counts()},
        all_time={AN_ID: all_time or Counts()},
        extractors={AN_ID: OCR},
        failed=failed,
        now=NOW,
    )
    return [trouble.sentence for trouble in found]


def failure(reason: str, *, minutes: float = 1.0, of: UUID = AN_ID) -> Job:
    """A job that failed so long ago."""
    ended = NOW - timedelta(minutes=minutes)
    return a_job(ended, client_application_extractor_id=of, status=Status.FAILED, status_message=reason)


def test_where_nothing_is_wrong_nothing_is_said() -> None:
    assert said() == said(workers=[]) == said(recent=Counts(succeeded=9, failed=2, retries=9)) == []


def test_what_waits_too_long_is_said() -> None:
    assert said(Backlog(oldest_file_at=LATE, oldest_due_at=LATE, oldest_event_at=LATE)) == [
        "An uploaded file has waited 5 min to be turned into jobs.",
        "A job has been due for 5 min, and no worker took it.",
        "An event has waited 5 min to be published.",
    ]


@pytest.mark.parametrize(
    "backlog", [Backlog(oldest_file_at=LATE, oldest_due_at=NOW), Backlog(oldest_due_at=LATE, oldest_file_at=NOW)]
)
def test_work_without_a_worker_is_said_once(backlog: Backlog) -> None:
    assert said(backlog, workers=[]) == ["No worker is there, and work has waited 5 min for one."]


def test_calls_are_to_be_repeated_only_where_jobs_are_there_to_do_it() -> None:
    recent = Counts(failed=2, retries=8)
    for all_time in (Counts(queued=3, started=0, failed=2, unstarted=2), Counts(queued=3, started=3, failed=2)):
        assert said(recent=recent, all_time=all_time) == ["OCR: 8 calls failed in 15 minutes, to be repeated."]
    over = Counts(queued=2, failed=2, unstarted=2)
    assert said(recent=recent, all_time=over) == ["OCR: 8 calls failed in 15 minutes, and 2 of 2 jobs with them."]
    many = Counts(succeeded=1, failed=5, retries=9)
    assert said(recent=many, all_time=over) == ["OCR: 5 of 6 jobs failed in 15 minutes."]
    assert said(recent=Counts(succeeded=1, retries=9), all_time=Counts(queued=1, started=1, succeeded=1)) == []


@pytest.mark.parametrize(
    "reason", [REJECTED, "The extractor can't be called without its API key: No API key is stored for extractor 1."]
)
def test_one_failure_is_enough_to_know_of_a_key(reason: str) -> None:
    told = ["OCR: its API key was missing or rejected in the last 15 minutes."]
    assert said(failed=[failure(reason), failure(reason)], recent=Counts(failed=1)) == told


def test_a_key_is_no_trouble_where_the_failure_is_old_or_of_another_kind() -> None:
    others = [failure(REJECTED, minutes=16), failure("Extractor reported E17."), failure(REJECTED, of=UUID(int=2))]
    assert said(failed=others) == []
