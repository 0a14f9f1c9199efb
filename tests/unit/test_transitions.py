"""The table of states and rules: every state by every outcome, and whatever sequence of them."""

from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from fluxx.model import keeping, transitions
from fluxx.model.deadlines import Limits
from fluxx.model.job import FINAL, Job, Status
from fluxx.model.keeping import Keep, begins_at
from fluxx.model.outcome import Extracted, NotReady, Outcome, Refused, Retry, Submitted
from fluxx.model.transitions import TABLE, EventType, IllegalTransition, Transition

START = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
TOKEN = UUID(int=7)
LIMITS = Limits(max_submit_attempts=3, max_poll_attempts=4, max_poll_errors=2, job_timeout=600.0)

OUTCOMES: dict[str, Outcome] = {
    "Submitted": Submitted("Submitted: HTTP 201 Created."),
    "NotReady": NotReady(),
    "Extracted": Extracted("results/a/b/c/result.json", 4096, "ab" * 32),
    "Retry": Retry("HTTP 503 Service Unavailable."),
    "Retry, uncounted": Retry("The vault is away.", counted=False),
    "Refused": Refused("HTTP 400 Bad Request."),
}
SITUATIONS = {"fresh": (0, 0, 1.0), "one before the limits": (3, 2, 1.0), "over": (0, 0, 601.0)}
"""Polls answered, errors in a row, and seconds since the job was queued."""


def queued(**changes: Any) -> Job:
    job = Job(
        job_id=UUID(int=1),
        file_id=UUID(int=2),
        client_application_id=UUID(int=3),
        client_application_extractor_id=UUID(int=4),
        status=Status.QUEUED,
        status_message=None,
        created_at=START,
        updated_at=START,
        deadline_at=START + timedelta(seconds=LIMITS.job_timeout),
        due_at=START,
        idempotency_key="first",
        claim_token=TOKEN,
        trace_context="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    )
    return replace(job, **changes)


def apply(job: Job, outcome: Outcome, *, after: float = 1.0, jitter: float = 0.0) -> Transition:
    return transitions.apply(job, outcome, now=START + timedelta(seconds=after), limits=LIMITS, jitter=jitter)


def in_situation(status: Status, situation: str) -> tuple[Job, float]:
    polls, errors, after = SITUATIONS[situation]
    final = {"due_at": None, "completed_at": START} if status in FINAL else {}
    return queued(status=status, poll_attempt_count=polls, error_count=errors, **final), after


def new_status(status: Status, outcome: str, situation: str) -> Status | None:
    job, after = in_situation(status, situation)
    try:
        return apply(job, OUTCOMES[outcome], after=after).job.status
    except IllegalTransition:
        return None


NOTHING = dict.fromkeys(SITUATIONS)


def always(status: Status) -> dict[str, Status | None]:
    return dict.fromkeys(SITUATIONS, status)


def limited(status: Status) -> dict[str, Status | None]:
    return {"fresh": status, "one before the limits": Status.FAILED, "over": Status.FAILED}


def timed(status: Status) -> dict[str, Status | None]:
    return always(status) | {"over": Status.FAILED}


MEANING: dict[Status, dict[str, dict[str, Status | None]]] = {
    Status.QUEUED: {
        "Submitted": always(Status.STARTED),
        "NotReady": NOTHING,
        "Extracted": always(Status.SUCCEEDED),
        "Retry": limited(Status.QUEUED),
        "Retry, uncounted": timed(Status.QUEUED),
        "Refused": always(Status.FAILED),
    },
    Status.STARTED: {
        "Submitted": NOTHING,
        "NotReady": limited(Status.STARTED),
        "Extracted": always(Status.SUCCEEDED),
        "Retry": limited(Status.STARTED),
        "Retry, uncounted": timed(Status.STARTED),
        "Refused": always(Status.FAILED),
    },
    Status.SUCCEEDED: dict.fromkeys(OUTCOMES, NOTHING),
    Status.FAILED: dict.fromkeys(OUTCOMES, NOTHING),
}


@pytest.mark.parametrize(("status", "outcome"), list(product(Status, OUTCOMES)))
def test_every_state_by_every_outcome(status: Status, outcome: str) -> None:
    assert {name: new_status(status, outcome, name) for name in SITUATIONS} == MEANING[status][outcome]


@pytest.mark.parametrize("status", Status)
def test_the_table_says_exactly_what_can_happen(status: Status) -> None:
    seen: dict[str, set[Status]] = {}
    for outcome, situation in product(OUTCOMES, SITUATIONS):
        if (reached := new_status(status, outcome, situation)) is not None:
            seen.setdefault(outcome.partition(",")[0], set()).add(reached)
    assert {outcome: frozenset(reached) for outcome, reached in seen.items()} == TABLE[status]


def test_a_new_job_is_queued_and_announced() -> None:
    queuing = transitions.queue(queued(claim_token=None))
    assert queuing.claim_token is None
    assert lines(queuing) == [(Status.QUEUED, "Queued", 0)]
    assert [event.type for event in queuing.events] == [EventType.JOB_QUEUED]


def test_submitted_starts_the_job() -> None:
    started = apply(queued(error_count=2), Submitted("Submitted: HTTP 201 Created."))
    assert started.job.status is Status.STARTED
    assert started.job.error_count == 0
    assert started.job.due_at == START + timedelta(seconds=1 + LIMITS.poll_interval)
    assert lines(started) == [(Status.STARTED, "Submitted: HTTP 201 Created.", 0)]
    assert [event.type for event in started.events] == [EventType.JOB_STARTED]


def test_not_ready_counts_the_poll_and_writes_it_down() -> None:
    waiting = apply(queued(status=Status.STARTED, error_count=1), NotReady(), after=9.0)
    assert waiting.job.poll_attempt_count == 1
    assert waiting.job.last_poll_attempt_at == START + timedelta(seconds=9)
    assert waiting.job.error_count == 0
    assert lines(waiting) == [(Status.STARTED, "Not ready at poll 1.", 1)]
    assert waiting.events == ()


def test_the_poll_limit_fails_the_job_and_says_so() -> None:
    last = apply(queued(status=Status.STARTED, poll_attempt_count=3), NotReady())
    reason = "Still not ready after 4 polls, the most allowed (MAX_POLL_ATTEMPTS)."
    assert lines(last) == [(Status.STARTED, "Not ready at poll 4.", 4), (Status.FAILED, reason, 4)]
    assert (last.job.status_message, last.job.due_at) == (reason, None)
    assert [(event.type, event.error_message) for event in last.events] == [(EventType.JOB_FAILED, reason)]


def test_a_poll_wish_is_followed_up_to_the_deadline() -> None:
    started = queued(status=Status.STARTED)
    assert apply(started, NotReady(33.0)).job.due_at == START + timedelta(seconds=34)
    assert apply(started, NotReady(1e9)).job.due_at == started.deadline_at
    assert apply(queued(), Submitted("ok", 1e9)).job.due_at == started.deadline_at
    assert apply(started, Retry("HTTP 429.", after=1e9)).job.due_at == started.deadline_at
    assert apply(queued(), Retry("HTTP 429.", after=40.0)).job.due_at == START + timedelta(seconds=41)


def test_a_retry_keeps_the_state_and_writes_the_reason_down() -> None:
    again = apply(queued(), Retry("HTTP 503 Service Unavailable."), jitter=0.5)
    assert again.job.status is Status.QUEUED
    assert (again.job.error_count, again.job.poll_attempt_count) == (1, 0)
    assert again.job.due_at == START + timedelta(seconds=1.5)
    assert lines(again) == [(Status.QUEUED, "HTTP 503 Service Unavailable. Trying again.", 0)]
    assert again.events == ()


@pytest.mark.parametrize(
    ("status", "errors", "words"),
    [
        (Status.QUEUED, 2, "HTTP 503. Gave up after 3 of 3 attempts (MAX_SUBMIT_ATTEMPTS)."),
        (Status.STARTED, 1, "HTTP 503. Gave up after 2 of 2 attempts (MAX_POLL_ERRORS)."),
    ],
)
def test_the_last_error_allowed_names_its_limit(status: Status, errors: int, words: str) -> None:
    ended = apply(queued(status=status, error_count=errors), Retry("HTTP 503."))
    assert (ended.job.status, ended.job.status_message) == (Status.FAILED, words)


def test_one_submission_allowed_fails_at_the_first_error_as_the_story_says() -> None:
    once = Limits(max_submit_attempts=1)
    ended = transitions.apply(queued(), Retry("HTTP 503."), now=START, limits=once)
    assert ended.job.status is Status.FAILED
    assert [event.type for event in ended.events] == [EventType.JOB_FAILED]


def test_the_deadline_names_itself_and_the_last_trouble() -> None:
    words = "Gave up at the deadline, 600 s after the job was queued (JOB_TIMEOUT_SECONDS)."
    started = queued(status=Status.STARTED)
    assert apply(started, NotReady(), after=600.0).job.status_message == words
    ended = apply(started, Retry("The vault is away.", counted=False), after=600.0)
    assert ended.job.status_message == f"{words} Last trouble: The vault is away."


def test_trouble_of_ours_is_not_counted_but_waited_out_longer_and_longer() -> None:
    away = Retry("The vault is away.", counted=False)
    job = queued(status=Status.STARTED, error_count=1)
    soon, later = apply(job, away, after=2.0, jitter=0.5), apply(job, away, after=50.0, jitter=0.5)
    assert soon.job.error_count == later.job.error_count == 1
    assert soon.job.due_at == START + timedelta(seconds=2 + 1)
    assert later.job.due_at == START + timedelta(seconds=50 + 25)


def test_a_polled_result_counts_its_poll() -> None:
    done = apply(queued(status=Status.STARTED, poll_attempt_count=2), OUTCOMES["Extracted"], after=9.0)
    assert done.job.poll_attempt_count == 3
    assert done.job.last_poll_attempt_at == done.job.completed_at == START + timedelta(seconds=9)
    assert (done.job.extractor_response, done.job.result_size) == ("results/a/b/c/result.json", 4096)
    assert done.job.due_at is None
    assert lines(done) == [(Status.SUCCEEDED, "Result of 4096 bytes stored.", 3)]
    assert [event.type for event in done.events] == [EventType.JOB_SUCCEEDED]


def test_a_result_in_the_submit_answer_passes_through_started() -> None:
    done = apply(queued(), Extracted("results/a/b/c/result.json", 4096, "ab" * 32, polled=False))
    assert done.job.poll_attempt_count == 0
    assert [line.status for line in done.history] == [Status.STARTED, Status.SUCCEEDED]
    assert [event.type for event in done.events] == [EventType.JOB_STARTED, EventType.JOB_SUCCEEDED]


def test_a_result_that_comes_after_the_deadline_is_a_result() -> None:
    assert apply(queued(status=Status.STARTED), OUTCOMES["Extracted"], after=9999.0).job.status is Status.SUCCEEDED


def test_the_write_names_the_claim_and_frees_the_job() -> None:
    transition = apply(queued(), Submitted("ok"))
    assert transition.claim_token == TOKEN
    assert transition.job.claim_token is None


KEEP = Keep(UUID(int=8), timedelta(seconds=20))


@pytest.mark.parametrize(
    ("status", "outcome"),
    [(Status.QUEUED, Submitted("ok")), (Status.QUEUED, Submitted("ok", poll_after=9.0)), (Status.STARTED, NotReady())],
)
def test_a_job_whose_extractor_is_at_work_is_kept_a_lease_beyond_its_time(status: Status, outcome: Outcome) -> None:
    job, now = queued(status=status), START + timedelta(seconds=1)
    freed = transitions.apply(job, outcome, now=now, limits=LIMITS)
    held = transitions.apply(job, outcome, now=now, limits=LIMITS, keep=KEEP)
    assert freed.job.due_at is not None
    assert held == replace(freed, job=replace(freed.job, due_at=freed.job.due_at + KEEP.lease, claim_token=KEEP.token))
    assert begins_at(held.job, Limits(lease=20.0)) == begins_at(freed.job, Limits(lease=20.0)) == freed.job.due_at


@pytest.mark.parametrize(
    ("status", "outcome", "polls"),
    [
        (Status.QUEUED, Retry("HTTP 503."), 0),
        (Status.STARTED, Retry("HTTP 503."), 0),
        (Status.QUEUED, Submitted("ok", poll_after=keeping.LONGEST.total_seconds() + 0.1), 0),
        (Status.STARTED, NotReady(keeping.LONGEST.total_seconds() + 0.1), 0),
        (Status.STARTED, NotReady(), LIMITS.max_poll_attempts - 1),
        (Status.STARTED, OUTCOMES["Extracted"], 0),
        (Status.STARTED, Refused("No."), 0),
    ],
)
def test_a_job_in_trouble_or_at_its_end_or_that_waits_for_long_is_let_go(
    status: Status, outcome: Outcome, polls: int
) -> None:
    job, now = queued(status=status, poll_attempt_count=polls), START + timedelta(seconds=1)
    held = transitions.apply(job, outcome, now=now, limits=LIMITS, keep=KEEP)
    assert held == transitions.apply(job, outcome, now=now, limits=LIMITS)
    assert held.job.claim_token is None


def test_a_final_event_tells_what_came_of_it() -> None:
    (done,) = apply(queued(status=Status.STARTED), OUTCOMES["Extracted"]).events
    assert done.result_summary == f"4096 bytes at results/a/b/c/result.json, sha256 {'ab' * 32}"
    assert done.error_message is None
    (failed,) = apply(queued(), Refused("No.")).events
    assert (failed.result_summary, failed.error_message) == (None, "No.")


def test_a_long_reason_is_cut_and_our_own_words_stay() -> None:
    long = "x" * 5000
    told: tuple[Outcome, ...] = (Refused(long), Retry(long), Submitted(long))
    for job, outcome in product((queued(error_count=2), queued()), told):
        for after in (1.0, 601.0):
            message = apply(job, outcome, after=after).job.status_message or ""
            assert len(message) <= 1000
    assert (apply(queued(error_count=2), Retry(long)).job.status_message or "").endswith("(MAX_SUBMIT_ATTEMPTS).")


def test_a_jobs_time_never_goes_back() -> None:
    ahead = queued(status=Status.STARTED, updated_at=START + timedelta(seconds=5))
    assert apply(ahead, NotReady(), after=2.0).job.updated_at == ahead.updated_at


def lines(transition: Transition) -> list[tuple[Status, str | None, int]]:
    return [(line.status, line.message, line.attempt_number) for line in transition.history]
