"""How long to wait: the numbers, and what holds for every number."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxx.model.backoff import outage_wait, poll_wait, retry_wait, spread
from fluxx.model.deadlines import Limits

LIMITS = Limits(
    poll_interval=5.0, poll_backoff_factor=1.5, poll_max_interval=60.0, retry_base=1.0, retry_cap=60.0
)  # fmt: skip

jitters = st.floats(0.0, 1.0, exclude_max=True)
seconds = st.floats(1e-3, 1e6)
any_limits = st.builds(
    Limits,
    poll_interval=seconds,
    poll_backoff_factor=st.floats(1.0, 1e9),
    poll_max_interval=seconds,
    retry_base=seconds,
    retry_cap=seconds,
)


def test_polls_grow_further_apart_up_to_the_longest_interval() -> None:
    assert [poll_wait(n, LIMITS, 0.0) for n in range(8)] == pytest.approx(
        [5.0, 7.5, 11.25, 16.875, 25.3125, 37.96875, 56.953125, 60.0]
    )
    assert poll_wait(10**9, LIMITS, 0.0) == 60.0


def test_polls_are_spread_by_a_tenth_at_most() -> None:
    assert poll_wait(0, LIMITS, 0.5) == pytest.approx(4.75)
    assert poll_wait(0, LIMITS, 0.999999) == pytest.approx(4.5, rel=1e-5)


def test_a_factor_of_one_keeps_the_interval() -> None:
    steady = Limits(poll_interval=5.0, poll_backoff_factor=1.0)
    assert {poll_wait(n, steady, 0.0) for n in range(1000)} == {5.0}


def test_a_slow_factor_reaches_the_longest_interval_in_the_end() -> None:
    slow = Limits(poll_interval=5.0, poll_backoff_factor=1.001, poll_max_interval=60.0)
    assert poll_wait(2000, slow, 0.0) == pytest.approx(5.0 * 1.001**2000)
    assert poll_wait(2500, slow, 0.0) == 60.0


def test_an_extractors_wish_is_followed_and_never_undercut() -> None:
    assert poll_wait(9, LIMITS, 0.0, wish=2.0) == 2.0
    assert poll_wait(0, LIMITS, 0.0, wish=90.0) == 90.0
    assert poll_wait(0, LIMITS, 0.999999, wish=90.0) == pytest.approx(99.0)


def test_a_wish_for_at_once_does_not_make_a_hot_loop() -> None:
    assert poll_wait(0, LIMITS, 0.0, wish=0.0) == 1.0
    assert poll_wait(0, Limits(poll_interval=0.2), 0.0, wish=0.0) == 0.2


def test_errors_double_the_wait_with_full_jitter_above_a_floor() -> None:
    assert [retry_wait(n, LIMITS, 0.5) for n in (1, 2, 3, 4)] == [0.5, 1.0, 2.0, 4.0]
    assert [retry_wait(n, LIMITS, 0.0) for n in (1, 2, 3, 4)] == [0.1, 0.2, 0.4, 0.8]
    assert retry_wait(10**9, LIMITS, 0.5) == 30.0


def test_an_outage_is_asked_after_less_and_less_often() -> None:
    assert outage_wait(0.0, LIMITS, 0.5) == 0.5
    assert outage_wait(20.0, LIMITS, 0.5) == 10.0
    assert outage_wait(3600.0, LIMITS, 0.5) == 30.0


def test_an_outage_of_an_hour_costs_a_job_few_attempts() -> None:
    age, attempts = 0.0, 0
    while age < 3600:
        age += outage_wait(age, LIMITS, 0.5)
        attempts += 1
    assert attempts < 150


@given(limits=any_limits, jitter=jitters, attempts=st.integers(0, 10**6))
def test_poll_waits_stay_in_bounds_and_never_shrink(limits: Limits, jitter: float, attempts: int) -> None:
    wait = poll_wait(attempts, limits, jitter)
    assert 0 < wait <= limits.poll_max_interval
    assert wait >= 0.9 * min(limits.poll_interval, limits.poll_max_interval) * (1 - 1e-9)
    assert poll_wait(attempts + 1, limits, jitter) >= wait * (1 - 1e-9)


@given(limits=any_limits, jitter=jitters, errors=st.integers(1, 10**6), unheard=st.floats(-10, 1e9))
def test_error_waits_stay_in_bounds(limits: Limits, jitter: float, errors: int, unheard: float) -> None:
    for wait in (retry_wait(errors, limits, jitter), outage_wait(unheard, limits, jitter)):
        assert 0 < wait <= limits.retry_cap


@given(limits=any_limits, jitter=jitters, wish=st.floats(0, 1e8))
def test_wishes_are_never_undercut(limits: Limits, jitter: float, wish: float) -> None:
    assert poll_wait(0, limits, jitter, wish=wish) >= wish
    assert wish <= spread(wish, jitter) <= 1.1 * wish


def test_chance_spreads_jobs_apart() -> None:
    waits = sorted(poll_wait(0, LIMITS, n / 100) for n in range(100))
    assert all(later > sooner for sooner, later in pairwise(waits))
