"""The tail of the stream of changes: each one once, also those that are committed late."""

from hypothesis import given
from hypothesis import strategies as st

from fluxx.api.live_tail import MOST_MISSING, PATIENCE, Tail
from support.changes import changes


def ids(tail: Tail, *numbers: int, now: float = 0.0) -> list[int]:
    return [change.change_id for change in tail.news(changes(*numbers), now)]


def test_what_is_passed_over_is_asked_for_and_taken_once() -> None:
    tail = Tail(10)
    assert ids(tail, 11, 14) == [11, 14]
    assert (tail.missing, tail.mark, tail.high) == ([12, 13], 11, 14)
    assert ids(tail, 12, 15) == [12, 15]
    assert ids(tail, 12, 15) == []
    assert (tail.missing, tail.mark) == ([13], 12)


def test_what_was_rolled_back_is_given_up() -> None:
    tail = Tail()
    ids(tail, 1, 3, now=0.0)
    assert ids(tail, 4, now=PATIENCE + 1) == [4]
    assert (tail.missing, tail.mark) == ([], 4)


def test_a_server_that_skips_thousands_is_no_burden() -> None:
    tail = Tail(5)
    assert ids(tail, 10_000) == [10_000]
    assert len(tail.missing) == MOST_MISSING


@given(st.permutations(range(1, 30)), st.integers(1, 6))
def test_every_change_is_seen_exactly_once_in_whatever_order_they_are_committed(order: list[int], size: int) -> None:
    tail, seen, committed = Tail(), [], set[int]()
    for start in range(0, len(order), size):
        committed |= set(order[start : start + size])
        found = sorted(number for number in committed if number > tail.high or number in tail.missing)
        seen += ids(tail, *found)
        assert all(number in seen for number in range(1, tail.mark + 1))
    assert sorted(seen) == sorted(order)
