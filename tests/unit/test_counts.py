"""Counts: how they add up, and what they tell of times and states."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fluxx.model.counts import BOUNDS, NO_TIMES, Counts, total

TIMES = st.tuples(*[st.integers(0, 1000)] * len(NO_TIMES))


def _of(times: tuple[int, ...]) -> Counts:
    return Counts(queued=sum(times), started=sum(times), succeeded=sum(times), times=times)


@given(st.lists(TIMES.map(_of), max_size=5))
def test_a_total_is_the_sum_of_its_parts(parts: list[Counts]) -> None:
    assert total(parts).succeeded == sum(part.succeeded for part in parts)
    assert sum(total(parts).times) == sum(sum(part.times) for part in parts)


@given(TIMES)
def test_a_larger_share_never_takes_less_time(times: tuple[int, ...]) -> None:
    waits = [_of(times).time_to_result(share / 20) for share in range(21)]
    if not sum(times):
        assert set(waits) == {None}
        return
    assert all((earlier or 0.0) <= (later or 0.0) for earlier, later in pairwise(waits))
    assert (waits[0] or 0.0) >= 0
    assert (waits[-1] or 0.0) <= 2 * BOUNDS[-1]


def test_the_median_lies_in_the_class_that_holds_it() -> None:
    times = list(NO_TIMES)
    times[0], times[4], times[5] = 10, 80, 10
    assert 5.0 < (_of(tuple(times)).time_to_result(0.5) or 0.0) < 10.0


def test_nothing_finished_has_no_rate() -> None:
    assert Counts(queued=3).success_rate is None
    assert Counts(queued=4, started=4, succeeded=3, failed=1).success_rate == 0.75
