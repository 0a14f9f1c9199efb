"""Byte ranges: whatever is asked, the answer is consistent."""

from http import HTTPStatus

from hypothesis import given
from hypothesis import strategies as st

from fluxx.api.ranges import select

ETAG = '"e"'
texts = st.one_of(
    st.text(),
    st.builds("bytes={}-{}".format, st.integers(0, 30) | st.just(""), st.integers(0, 30) | st.just("")),
)


@given(wanted=texts, size=st.integers(0, 20))
def test_a_selection_is_never_more_than_there_is(wanted: str, size: int) -> None:
    selection = select({"range": wanted}, size=size, etag=ETAG)
    assert 0 <= selection.start <= selection.end <= size
    match selection.status:
        case HTTPStatus.OK:
            assert (selection.start, selection.end) == (0, size)
        case HTTPStatus.PARTIAL_CONTENT:
            assert selection.start < selection.end
        case _:
            assert selection.status is HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE


@given(first=st.integers(0, 30), length=st.integers(1, 30), size=st.integers(1, 20))
def test_a_range_selects_what_a_slice_would(first: int, length: int, size: int) -> None:
    content = bytes(range(size))
    selection = select({"range": f"bytes={first}-{first + length - 1}"}, size=size, etag=ETAG)
    assert content[selection.start : selection.end] == content[first : first + length]


@given(length=st.integers(1, 30), size=st.integers(1, 20))
def test_a_suffix_selects_the_end(length: int, size: int) -> None:
    content = bytes(range(size))
    selection = select({"range": f"bytes=-{length}"}, size=size, etag=ETAG)
    assert content[selection.start : selection.end] == content[-length:]
