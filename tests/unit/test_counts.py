"""Counts: how they add up, and what they tell of times and states."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fluxx.dashboard.words import at_most
from fluxx.model.backoff import poll_wait
from fluxx.model.counts import BOUNDS, NO_TIMES, Counts, change_of, total
from fluxx.model.job import Status
from fluxx.settings import Settings
from support.jobs import a_job

TIMES = st.tuples(*[st.integers(0, 1000)] * len(NO_TIMES))

LATE = 1.5
"""Seconds that submitting and being late add to the waits."""


def _of(times: tuple[int, ...]) -> Counts:
    return Counts(queued=sum(times), started=sum(times), succeeded=sum(times), times=times)


def _after(seconds: float) -> Counts:
    """Return the counts of one job whose result came after so long."""
    queued = a_job(datetime(2026, 1, 1, tzinfo=UTC))
    done = replace(queued, status=Status.SUCCEEDED, updated_at=queued.created_at + timedelta(seconds=seconds))
    added = change_of(queued, done)
    return Counts(succeeded=1, times=tuple(added.get(f"times{place}", 0) for place in range(len(NO_TIMES))))


@given(st.lists(TIMES.map(_of), max_size=5))
def test_a_total_is_the_sum_of_its_parts(parts: list[Counts]) -> None:
    assert total(parts).succeeded == sum(part.succeeded for part in parts)
    assert sum(total(parts).times) == sum(sum(part.times) for part in parts)


@given(TIMES)
def test_a_larger_share_never_takes_less_time(times: tuple[int, ...]) -> None:
    waits = [_of(times).longest_time_to_result(share / 20) for share in range(21)]
    if not sum(times):
        assert set(waits) == {None}
        return
    assert all((earlier or 0.0) <= (later or 0.0) for earlier, later in pairwise(waits))
    assert {*waits} <= {*BOUNDS, inf}


@given(st.lists(st.floats(0.001, 20_000), min_size=1), st.sampled_from([0.5, 0.95]))
def test_so_large_a_share_did_come_within_the_time_that_is_told(taken: list[float], share: float) -> None:
    told = total([_after(seconds) for seconds in taken]).longest_time_to_result(share) or 0.0
    assert sum(seconds <= told for seconds in taken) >= share * len(taken)
    below = max((bound for bound in BOUNDS if bound < told), default=0.0)
    assert sum(seconds <= below for seconds in taken) < share * len(taken), "and not within the next shorter one"


@pytest.mark.parametrize("polls", range(1, 9))
def test_results_of_the_same_poll_fall_into_one_class(polls: int) -> None:
    limits = Settings.model_construct().limits
    waits = [[poll_wait(made, limits, jitter) for made in range(polls)] for jitter in (0.0, 1.0)]
    earliest, latest = sum(waits[1]), sum(waits[0]) + LATE
    assert not [bound for bound in BOUNDS if earliest <= bound <= latest]


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (None, "\N{EN DASH}"),
        (0.5, "≤ 0.5 s"),
        (7, "≤ 7 s"),
        (80, "≤ 1 min 20 s"),
        (300, "≤ 5 min"),
        (7200, "≤ 2 h"),
        (inf, "> 2 h"),
    ],
)
def test_a_bound_is_told_as_one(seconds: float | None, told: str) -> None:
    assert at_most(seconds) == told


def test_nothing_finished_has_no_rate() -> None:
    assert Counts(queued=3).success_rate is None
    assert Counts(queued=4, started=4, succeeded=3, failed=1).success_rate == 0.75
