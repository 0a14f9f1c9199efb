"""Each mechanism, switched off alone, breaks what it is there for on one of a few days."""

import pytest

from simulation import broken
from simulation import invariants as must_hold
from simulation.broken import over, unlimited
from simulation.invariants import Invariant
from simulation.plan import plan_of
from simulation.play import simulate
from simulation.stage import Variant

DAYS = 40
"""How many days are tried at the most, from the one given on: a small change of ours changes what a seed brings."""

NO_LIMIT = 10**6

SWITCHED_OFF: dict[str, tuple[Variant, str, Invariant]] = {
    "writes are fenced by claims": (
        over(jobs=broken.Unfenced),
        "freezes from 20",
        must_hold.every_history_is_in_order_and_agrees_with_its_job,
    ),
    "a message that comes again is known": (
        over(jobs=broken.Forgetful),
        "calm",
        must_hold.every_other_job_was_asked_for,
    ),
    "claims are renewed": (
        over(jobs=broken.Unrenewed),
        "calm",
        must_hold.no_step_is_done_twice_for_nothing,
    ),
    "claims end": (
        over(jobs=broken.Endless),
        "kills",
        must_hold.everything_comes_to_an_end,
    ),
    "kept jobs fall due to everybody in the end": (
        over(jobs=broken.Hoarding),
        "kills",
        must_hold.everything_comes_to_an_end,
    ),
    "a claim is one worker's": (
        over(jobs=broken.Shared),
        "calm",
        must_hold.no_step_is_done_twice_for_nothing,
    ),
    "events are written with their transition": (
        over(jobs=broken.Apart),
        "kills",
        must_hold.every_event_is_published_once_under_one_id,
    ),
    "due times are clamped to the deadline": (
        over(jobs=broken.Unclamped),
        "calm",
        must_hold.every_job_ends_within_its_deadline,
    ),
    "messages hold no secrets": (
        over(jobs=broken.Talkative),
        "calm",
        must_hold.nothing_secret_is_stored_or_told,
    ),
    "one relay works at a time": (
        over(outbox=broken.Leaderless),
        "calm",
        must_hold.no_event_is_sent_twice_for_nothing,
    ),
    "events leave in the order of their writing": (
        over(outbox=broken.Backwards),
        "calm",
        must_hold.the_events_of_a_job_come_in_order,
    ),
    "a result is readable before it is announced": (
        over(blobs=broken.Hasty),
        "calm",
        must_hold.what_an_event_tells_is_true_by_then,
    ),
    "a result is written once": (
        over(blobs=broken.Overwriting),
        "late results",
        must_hold.every_success_has_its_result,
    ),
    "a file's URL outlives its job": (
        over(blobs=broken.ShortLived),
        "calm",
        must_hold.every_file_is_there_when_it_is_submitted,
    ),
    "a message is completed after its jobs are written": (
        over(bus=broken.Rash),
        "errors",
        must_hold.every_accepted_file_has_one_job_per_active_extractor,
    ),
    "poison is put aside": (
        over(bus=broken.Careless),
        "calm",
        must_hold.poison_and_nothing_else_is_put_aside,
    ),
    "a client's files go to its own extractors": (
        over(registry=broken.Mingling),
        "calm",
        must_hold.no_extractor_sees_a_strange_file,
    ),
    "a job is submitted under its id": (
        over(extractors=broken.Renaming),
        "calm",
        must_hold.every_call_of_a_job_carries_its_id,
    ),
    "a rejected key is read again": (
        over(secrets=broken.Stale),
        "calm from 9",
        must_hold.every_failure_has_its_cause,
    ),
    "only what is old is forgotten": (
        over(retention=broken.Oblivious),
        "calm",
        must_hold.what_is_old_is_forgotten_and_nothing_else,
    ),
    "polls are limited": (
        unlimited(max_poll_attempts=NO_LIMIT),
        "calm",
        must_hold.attempts_stay_within_their_limits,
    ),
    "submissions are limited": (
        unlimited(max_submit_attempts=NO_LIMIT),
        "calm",
        must_hold.attempts_stay_within_their_limits,
    ),
    "errors in a row are limited": (
        unlimited(max_poll_errors=NO_LIMIT),
        "calm from 7",
        must_hold.attempts_stay_within_their_limits,
    ),
}


@pytest.mark.parametrize("mechanism", SWITCHED_OFF)
def test_what_breaks_without_a_mechanism_is_noticed(mechanism: str) -> None:
    variant, days, invariant = SWITCHED_OFF[mechanism]
    sky, _, first = days.partition(" from ")
    seeds = range(int(first or 1), int(first or 1) + DAYS)
    assert any(list(invariant(simulate(plan_of(seed, sky=sky), variant=variant))) for seed in seeds)
