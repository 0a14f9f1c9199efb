"""Why a job is where it is: every state has an answer, and whoever has to act is told how."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import msgspec
import pytest

from fluxx.model import transitions
from fluxx.model.deadlines import Limits
from fluxx.model.kinds import NO_ANSWER, NO_LONGER_THERE, OTHER, POLLS, REPORTED, kind_of
from fluxx.model.outcome import Extracted, NotReady, Outcome, Refused, Retry, Submitted
from fluxx.model.why import Situation, Why, limits_of, why, words_for
from support.jobs import a_job

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LIMITS = Limits()
RESULT = Extracted("results/a/b/c/result.json", 4096, "f" * 64)


def situation(*outcomes: Outcome, later: float = 1.0, claimed: bool = False, limits: Limits = LIMITS) -> Situation:
    """What is known of a job to which the outcomes happened, one a second, ``later`` seconds after the last."""
    queued = transitions.queue(a_job(NOW))
    job, history = queued.job, [*queued.history]
    for number, outcome in enumerate(outcomes, start=1):
        made = transitions.apply(job, outcome, now=NOW + timedelta(seconds=number), limits=limits)
        job, history = made.job, [*history, *made.history]
    if claimed:
        until = job.updated_at + timedelta(seconds=limits.lease)
        job = msgspec.structs.replace(job, claim_token=uuid4(), due_at=until)
    now = job.updated_at + timedelta(seconds=later)
    return Situation(job=job, history=history, extractor="OCR", is_active=True, limits=limits, now=now)


def test_a_queued_job_waits_for_its_submission() -> None:
    found = why(situation())
    assert found == Why(happened="It was queued for OCR 1.0 s ago.", waiting="Its submission is due.", until=NOW)


def test_a_job_that_nobody_takes_asks_for_a_worker() -> None:
    found = why(situation(later=100))
    assert found.waiting == "It has been due for 1 min 40 s, and no worker took it."
    assert "fluxx worker" in (found.todo or "")


def test_a_job_in_a_workers_hands_says_so_and_until_when() -> None:
    found = why(situation(Submitted("HTTP 201"), claimed=True))
    assert found.waiting == "A worker has it in hand: it is being polled. If the worker dies, another takes over."
    assert found.until == NOW + timedelta(seconds=1 + LIMITS.lease)


def test_a_job_that_its_worker_keeps_waits_for_its_next_poll_as_any_other() -> None:
    free = situation(Submitted("HTTP 201"), NotReady())
    lease, due = timedelta(seconds=LIMITS.lease), free.job.due_at
    assert due is not None
    kept = msgspec.structs.replace(free, job=msgspec.structs.replace(free.job, due_at=due + lease, claim_token=uuid4()))
    assert why(kept) == why(free)
    assert why(kept).until == due
    assert limits_of(kept.job, LIMITS, kept.now) == limits_of(free.job, LIMITS, free.now)
    polled = why(msgspec.structs.replace(kept, now=due))
    assert (polled.waiting or "").startswith("A worker has it in hand: it is being polled.")
    silent = msgspec.structs.replace(kept, now=due + lease + timedelta(seconds=16))
    assert why(silent).waiting == "It has been due for 16 s, and no worker took it."


def test_a_started_job_counts_its_polls() -> None:
    found = why(situation(Submitted("HTTP 201"), NotReady(), NotReady()))
    assert found.happened == "OCR took the file 3.0 s ago; 2 polls said that it isn't ready."
    assert (found.waiting, found.todo) == ("The next poll is due.", None)


def test_a_job_in_trouble_tells_its_last_trouble_and_what_to_do() -> None:
    found = why(situation(Retry("No answer from the extractor: refused.")))
    assert found.happened.startswith("1 submission to OCR came to nothing. Last trouble: No answer from the extractor")
    assert found.todo == NO_ANSWER.advice


def test_a_result_that_cannot_be_fetched_is_no_lack_of_polls() -> None:
    gone = Retry("The extractor no longer gives the result at its URL; the next poll asks for a fresh one: HTTP 410.")
    found = why(situation(Submitted("HTTP 201"), gone, gone))
    assert found.happened.startswith(
        "OCR took the file 3.0 s ago. 2 polls in a row came to nothing. Last trouble: The "
    )
    assert found.todo == NO_LONGER_THERE.advice
    later = why(situation(Submitted("HTTP 201"), NotReady(), gone))
    assert "; 1 poll said that it isn't ready. 1 poll in a row came to nothing." in later.happened


def test_an_end_is_told_with_its_reason() -> None:
    assert why(situation(RESULT)).happened == "OCR gave a result of 4096 bytes 1.0 s in, after 1 poll."
    failed = why(situation(Submitted("ok"), Refused("Extractor reported no_text: nothing to read.")))
    assert failed.happened == "It failed after 2.0 s. Extractor reported no_text: nothing to read."
    assert (failed.waiting, failed.until, failed.todo) == (None, None, REPORTED.advice)


def test_the_limit_that_bites_next_comes_first() -> None:
    waiting = situation(Submitted("ok"), NotReady())
    assert limits_of(waiting.job, LIMITS, waiting.now)[0].name == "JOB_TIMEOUT_SECONDS"
    few = Limits(max_poll_attempts=3)
    waiting = situation(Submitted("ok"), NotReady(), limits=few)
    first = limits_of(waiting.job, few, waiting.now)[0]
    assert (first.name, first.used, first.allowed) == ("MAX_POLL_ATTEMPTS", "1", "3")
    last_try = situation(*[Retry("busy")] * 4)
    assert limits_of(last_try.job, LIMITS, last_try.now)[0].name == "MAX_SUBMIT_ATTEMPTS"
    assert limits_of(situation(RESULT).job, LIMITS, NOW) == []


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("Cancelled by an operator.", "cancelled"),
        ("Cancelled by an operator: wrong file", "cancelled"),
        ("Still not ready after 3 polls, the most allowed (MAX_POLL_ATTEMPTS).", POLLS.name),
        (None, OTHER.name),
    ],
)
def test_reasons_are_recognised(reason: str | None, kind: str) -> None:
    assert kind_of(reason).name == kind


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0.0 s"), (9.94, "9.9 s"), (59, "59 s"), (61, "1 min 1 s"), (3600, "1 h"), (90061, "1 d 1 h")],
)
def test_durations_are_told_as_people_say_them(seconds: float, words: str) -> None:
    assert words_for(timedelta(seconds=seconds)) == words
