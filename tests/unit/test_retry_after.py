"""How long an extractor asks us to wait: every form, and nonsense in every form."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxx.extraction import answers, retry_after
from fluxx.model.outcome import NotReady, Retry, Submitted
from fluxx.ports.extractor import Answer

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
LONGEST = 366 * 86400.0


def answer(status: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
    return Answer(status, "", headers or {}, body)


def submitted(status: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> object:
    return answers.submission(answer(status, body, headers), now=NOW)


def polled(status: int, body: bytes = b"", headers: Mapping[str, str] | None = None, *, grace: bool = False) -> object:
    return answers.polled(answer(status, body, headers), now=NOW, grace=grace)


@pytest.mark.parametrize(
    ("headers", "status", "seconds"),
    [
        ({"retry-after": "7"}, 503, 7.0),
        ({"retry-after": " 1.5 "}, 503, 1.5),
        ({"retry-after": "0"}, 503, 0.0),
        ({"retry-after": "-5"}, 503, 0.0),
        ({"retry-after": "1" * 400}, 503, LONGEST),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:30 GMT"}, 503, 30.0),
        ({"retry-after": "Sunday, 01-Mar-26 12:00:30 GMT"}, 503, 30.0),
        ({"retry-after": "Sun Mar  1 12:00:30 2026"}, 503, 30.0),
        ({"retry-after": "Sun, 01 Mar 2026 13:00:30 +0100"}, 503, 30.0),
        ({"retry-after": "Sun, 01 Mar 2020 12:00:00 GMT"}, 503, 0.0),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}, 503, LONGEST),
        ({"retry-after": "Fri, 31 Dec 99999 23:59:59 GMT"}, 503, None),
        ({"retry-after": ""}, 503, None),
        ({"retry-after": "soon"}, 503, None),
        ({"retry-after": "nan"}, 503, None),
        ({"retry-after": "inf"}, 503, None),
        ({"retry-after": "1_000"}, 503, None),
        ({"retry-after": "٣"}, 503, None),
        ({"retry-after": "5, 7"}, 503, None),
        ({"retry-after-ms": "250"}, 429, 0.25),
        ({"retry-after-ms": "250", "retry-after": "9"}, 429, 0.25),
        ({"retry-after-ms": "x", "retry-after": "9"}, 429, 9.0),
        ({"x-ratelimit-reset": "20"}, 429, 20.0),
        ({"x-ratelimit-reset": "1772366420"}, 429, 20.0),
        ({"x-ratelimit-reset": "1772366420500"}, 429, 20.5),
        ({"x-ratelimit-reset": "1672366420"}, 429, 0.0),
        ({"x-ratelimit-reset": "20", "retry-after": "3"}, 429, 3.0),
        ({"x-ratelimit-reset": "x"}, 429, None),
        ({"x-ratelimit-reset": "20"}, 503, None),
        ({}, 503, None),
    ],
)
def test_retry_after_in_all_its_forms(headers: dict[str, str], status: int, seconds: float | None) -> None:
    for meaning in (
        submitted(status, headers=headers),
        polled(status, headers=headers),
        answers.downloaded(answer(status, headers=headers), now=NOW),
    ):
        assert isinstance(meaning, Retry)
        assert meaning.after == seconds


@pytest.mark.parametrize(
    ("wish", "seconds"),
    [
        (b"7", 7.0), (b"0.5", 0.5), (b"-1", 0.0), (b'"8"', 8.0), (b'"Sun, 01 Mar 2026 12:00:30 GMT"', 30.0),
        (b"1e300", LONGEST), (b"1e999", None), (b"1" * 5000, None), (b"true", None), (b"null", None),
        (b'"soon"', None), (b"[1]", None), (b"{}", None),
    ],
)  # fmt: skip
def test_a_wish_in_the_body_counts_where_no_header_speaks(wish: bytes, seconds: float | None) -> None:
    body = b'{"isReady":false,"retryAfter":' + wish + b"}"
    assert polled(200, body) == NotReady(seconds)
    assert polled(200, body, {"retry-after": "3"}) == NotReady(3.0)
    taken = submitted(202, body)
    assert isinstance(taken, Submitted)
    assert taken.poll_after == seconds


@pytest.mark.parametrize(
    "meaning",
    [
        submitted(201, headers={"retry-after": "4"}),
        submitted(409, headers={"retry-after": "4"}),
        polled(200, b"<html>", {"retry-after": "4"}),
        polled(404, headers={"retry-after": "4"}, grace=True),
        answers.downloaded(answer(404, headers={"retry-after": "4"}), now=NOW),
    ],
)
def test_a_wish_counts_wherever_it_can_be_followed(meaning: object) -> None:
    assert isinstance(meaning, Submitted | Retry)
    assert (meaning.poll_after if isinstance(meaning, Submitted) else meaning.after) == 4.0


_PIECES = st.sampled_from(
    [
        *("Sun,", "01", "Mar", "2026", "12:00:30", "GMT", "+0100", "-9999", "+99999", "99999", "25:61:61", "99"),
        *("1e9", "-", "+", ".", ",", "0x1", "٣", "nan", "-inf", "1" * 400, "9" * 5000),
    ]
)
_WISHES = st.one_of(
    st.text(),
    st.lists(_PIECES, max_size=7).map(" ".join),
    st.lists(_PIECES, max_size=3).map("".join),
    st.integers().map(str),
    st.floats().map(str),
)
_HEADERS = st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms", "x-ratelimit-reset"]), _WISHES)


@given(headers=_HEADERS, status=st.sampled_from([200, 202, 404, 429, 503]))
def test_no_header_makes_us_wait_less_than_nothing_or_for_ever(headers: dict[str, str], status: int) -> None:
    seconds = retry_after.wish(headers, status=status, now=NOW)
    assert seconds is None or 0 <= seconds <= LONGEST


@given(value=st.one_of(_WISHES, st.integers(), st.floats(), st.booleans(), st.none(), st.lists(st.integers())))
def test_no_wish_in_a_body_does_either(value: object) -> None:
    seconds = retry_after.body_wish(value, now=NOW)
    assert seconds is None or 0 <= seconds <= LONGEST
