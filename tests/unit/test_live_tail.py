"""The tail of the stream of changes: each one once, also those that are committed late."""

from hypothesis import given
from hypothesis import strategies as st

from fluxx.api.live_tail import MOST_MISSING, PATIENCE, Tail
from support.changes import changes


def ids(tail: Tail, *numbers: int) -> list[int]:
    return [change.change_id for change in tail.news(changes(*numbers))]


def test_what_is_passed_over_is_asked_for_and_taken_once() -> None:
    tail = Tail(10)
    assert ids(tail, 11, 14) == [11, 14]
    assert (tail.asked, tail.mark, tail.high) == ([12, 13, 14], 11, 14)
    assert ids(tail, 12, 15) == [12, 15]
    assert ids(tail, 12, 15) == []
    assert (tail.asked, tail.mark) == ([13, 15], 12)


def test_what_was_rolled_back_is_given_up_after_so_many_reads() -> None:
    tail = Tail()
    ids(tail, 1, 3)
    for _ in range(PATIENCE - 1):
        ids(tail)
        assert tail.mark == 1
    assert ids(tail, 4) == [4]
    assert (tail.asked, tail.mark) == ([4], 4)


def test_what_comes_with_the_last_read_that_asks_for_it_is_taken() -> None:
    tail = Tail()
    ids(tail, 1, 3)
    for _ in range(PATIENCE - 1):
        ids(tail)
    assert ids(tail, 2, 4) == [2, 4]


def test_servers_that_skip_thousands_are_no_burden() -> None:
    tail = Tail(5)
    for number in (10_000, 20_000, 30_000):
        assert ids(tail, number) == [number]
        assert len(tail.asked) == MOST_MISSING + 1


def test_what_the_newest_passed_over_is_waited_for() -> None:
    tail = Tail.behind(changes(1, 2, 5, 7))
    assert (tail.asked, tail.mark) == ([3, 4, 6, 7], 2)
    assert ids(tail, 4, 7, 8) == [4, 8]
    assert (Tail.behind([]).high, Tail.behind([]).mark) == (0, 0)


def test_a_tail_is_cut_off_where_its_end_is_gone() -> None:
    assert not Tail().is_cut_off([])
    assert not Tail(7).is_cut_off(changes(7, 8))
    assert Tail(7).is_cut_off([])
    assert Tail(7).is_cut_off(changes(8))


@given(st.permutations(range(1, 30)), st.integers(29 // PATIENCE + 1, 8))
def test_every_change_is_seen_exactly_once_in_whatever_order_they_are_committed(order: list[int], size: int) -> None:
    tail, seen, committed = Tail(), [], set[int]()
    for start in range(0, len(order), size):
        committed |= set(order[start : start + size])
        found = sorted(number for number in committed if number > tail.high or number in tail.asked)
        seen += ids(tail, *found)
        assert all(number in seen for number in range(1, tail.mark + 1))
    assert sorted(seen) == sorted(order)
