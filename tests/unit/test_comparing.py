"""Results side by side, and one result as a tree: what is the same, what differs, and where words are."""

import json
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxx.dashboard.comparing import Comparison, Verdict, compared
from fluxx.dashboard.tree import MOST_NODES, Node, leaves, read, search, tree_of

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab.", max_size=3), inner, max_size=4),
    max_leaves=20,
)


def result(value: Any) -> Any:
    return read(json.dumps(value).encode())


def compare(left: Any, right: Any) -> Comparison:
    return compared(result(left), result(right))


def test_each_place_has_its_verdict() -> None:
    left = {"total": 100, "name": "Ann", "same": [1, 2], "gone": True, "price": 1.50}
    right = {"name": "Bob", "total": 110, "same": [1, 2, 3], "price": 1.5}
    found = compare(left, right)
    verdicts = {each.path: each.verdict for each in found.differing}
    assert verdicts == {
        "total": Verdict.NUMBER,
        "name": Verdict.DIFFERENT,
        "gone": Verdict.ONLY_LEFT,
        "same[2]": Verdict.ONLY_RIGHT,
    }
    assert found.counts[Verdict.SAME] == 3
    assert next(each.difference for each in found.differing if each.path == "total") == "+10 (+10 %)"


def test_numbers_too_far_apart_to_say_how_far_still_differ() -> None:
    numbers = ["9e999999", "-9e999999", "1e-999999", "1e999999999999999999", "1e99999999999999999999", "NaN", "0"]
    for left, right in permutations(numbers, 2):
        assert compared(read(left.encode()), read(right.encode())).counts[Verdict.NUMBER] == 1


@given(JSON)
def test_a_result_is_the_same_as_itself(value: Any) -> None:
    assert compare(value, value).is_same


@given(JSON, JSON)
def test_the_other_way_round_left_and_right_change_places(one: Any, other: Any) -> None:
    there, back = compare(one, other), compare(other, one)
    assert there.counts[Verdict.ONLY_LEFT] == back.counts[Verdict.ONLY_RIGHT]
    assert there.counts[Verdict.SAME] == back.counts[Verdict.SAME]


def test_numbers_are_shown_as_they_were_sent() -> None:
    tree = tree_of(read(b'{"big": 12345678901234567890123, "exact": 0.10000000000000000001, "e": 1E400}'))
    assert [child.text for child in tree.children or ()] == [
        "12345678901234567890123",
        "0.10000000000000000001",
        "1E400",
    ]


def test_a_huge_result_is_cut_and_says_so() -> None:
    tree = tree_of(result(list(range(2 * MOST_NODES))))
    assert (len(tree.children or ()), tree.left_out) == (MOST_NODES - 1, MOST_NODES + 1)
    assert search(result(list(range(2 * MOST_NODES))), "5999")[0].path == "[5999]"


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_json_is_an_error_that_can_be_told(body: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read(body)


def test_a_search_finds_keys_and_values_in_any_case() -> None:
    value = result({"Invoice": {"lines": [{"text": "Straße"}]}})
    assert [found.path for found in search(value, "STRASSE")] == ["Invoice.lines[0].text"]
    assert [found.text for found in search(value, "invoice")] == ["Straße"]


@given(JSON)
def test_the_tree_holds_every_leaf(value: Any) -> None:
    def count(node: Node) -> int:
        return sum(map(count, node.children)) if node.children else 1

    assert count(tree_of(result(value))) == len([*leaves(result(value))])
