"""Answers taken apart: the same however the bytes arrive, framed in one way only, and within bounds."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fluxx.adapters.http.failures import Broken, OversizedHead
from fluxx.adapters.http.incoming import Head, Incoming

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
ANSWERS = {
    "length": (OK + b"Content-Length: 4\r\n\r\nbody", b"body"),
    "empty": (OK + b"Content-Length: 0\r\n\r\n", b""),
    "chunks": (CHUNKED + b"3\r\nbod\r\n01\r\ny\r\n0\r\n\r\n", b"body"),
    "extensions": (CHUNKED + b'4;a=b;c="d"\r\nbody\r\n0;last\r\n\r\n', b"body"),
    "trailers": (CHUNKED + b"4\r\nbody\r\n0\r\nX-Late: 1\r\n\r\n", b"body"),
    "interim": (
        b"HTTP/1.1 100 Continue\r\nX: 1\r\n\r\nHTTP/1.1 103 Hints\r\n\r\n" + OK + b"Content-Length: 1\r\n\r\na",
        b"a",
    ),
    "none": (b"HTTP/1.1 204 No Content\r\nX: 1\r\n\r\n", b""),
    "unchanged": (b"HTTP/1.1 304 Not Modified\r\nX: 1\r\n\r\n", b""),
    "no reason": (b"HTTP/1.1 200\r\nContent-Length: 1\r\n\r\na", b"a"),
}


def outcome(*pieces: bytes, bodiless: bool = False, ends: bool = False) -> tuple[Head | str | None, bytes, bool, bool]:
    """Head (or what is wrong), body, whether that is all, whether the connection may be kept."""
    incoming = Incoming()
    incoming.start(bodiless=bodiless)
    body = b""
    try:
        for piece in pieces:
            incoming.feed(piece)
            body += incoming.take()
    except (Broken, OversizedHead) as trouble:
        return type(trouble).__name__, body, False, False
    if ends:
        incoming.end()
    return incoming.head, body, incoming.complete, incoming.kept


@pytest.mark.parametrize(("raw", "body"), ANSWERS.values(), ids=ANSWERS)
def test_every_framing_is_understood_and_the_connection_kept(raw: bytes, body: bytes) -> None:
    head, got, complete, kept = outcome(raw)
    assert isinstance(head, Head)
    assert head.status in (200, 204, 304)
    assert "x-late" not in head.headers
    assert (got, complete, kept) == (body, True, True)


@given(st.sampled_from(list(ANSWERS.values())), st.lists(st.integers(0, 120), max_size=12))
def test_where_the_bytes_are_split_changes_nothing(answer: tuple[bytes, bytes], cuts: list[int]) -> None:
    raw = answer[0]
    places = [0, *sorted(cuts), len(raw)]
    pieces = [raw[start:end] for start, end in pairwise(places) if start < end]
    assert outcome(*pieces) == outcome(raw)


@pytest.mark.parametrize(("raw", "body"), ANSWERS.values(), ids=ANSWERS)
def test_the_answer_is_all_there_with_its_last_byte_and_not_before(raw: bytes, body: bytes) -> None:
    incoming = Incoming()
    for at in range(len(raw)):
        assert not incoming.complete
        incoming.feed(raw[at : at + 1])
    assert incoming.complete
    assert incoming.take() == body


@pytest.mark.parametrize(
    "raw",
    [
        OK + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nab\r\n0\r\n\r\n",
        OK + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nab",
        OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
        OK + b"Content-Length: 2, 2\r\n\r\nab",
        OK + b"Content-Length: -2\r\n\r\nab",
        OK + b"Content-Length: +2\r\n\r\nab",
        OK + b"Content-Length: 0x2\r\n\r\nab",
        OK + b"Content-Length:\r\n\r\nab",
        OK + b"Content-Length: 99999999999999999999\r\n\r\nab",
        OK + b"Transfer-Encoding: gzip\r\n\r\nab",
        OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked, identity\r\n\r\n2\r\nab\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: xchunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding : chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
        OK + b"X: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\nab",
        OK + b"X: a\rContent-Length: 9\r\nContent-Length: 2\r\n\r\nab",
        OK + b"X: a\x00b\r\nContent-Length: 2\r\n\r\nab",
        OK.replace(b"\r", b"") + b"Content-Length: 2\n\nab",
        CHUNKED + b"2\nab\n0\n\n",
        CHUNKED + b"-2\r\nab\r\n0\r\n\r\n",
        CHUNKED + b"0x2\r\nab\r\n0\r\n\r\n",
        CHUNKED + b"2 \r\nab\r\n0\r\n\r\n",
        CHUNKED + b"2\r\nabc\r\n0\r\n\r\n",
        CHUNKED + b"2\r\nab\r\n0\r\nContent-Length: 2\r\n\r\n",
        CHUNKED + b"fffffffffffffffff\r\nab",
        b"HTTP/1.1 099 Low\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 2000 High\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nab",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\nab",
    ],
)
def test_what_could_be_framed_in_two_ways_is_no_answer(raw: bytes) -> None:
    incoming = Incoming()
    with pytest.raises(Broken, match="isn't HTTP"):
        incoming.feed(raw)


@pytest.mark.parametrize(
    "raw",
    [
        OK + b"Content-Length: 2\r\nConnection: close\r\n\r\nab",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nab",
        OK + b"Content-Length: 2\r\n\r\nabHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        OK + b"Content-Length: 2\r\n\r\nab garbage",
        OK + b"Content-Length: 2\r\nConnection: close\r\n\r\nabc",
        CHUNKED + b"2\r\nab\r\n0\r\n\r\nH",
    ],
)
def test_an_answer_after_which_nothing_may_be_asked_counts_all_the_same(raw: bytes) -> None:
    head, body, complete, kept = outcome(raw)
    assert isinstance(head, Head)
    assert (head.status, body, complete, kept) == (200, b"ab", True, False)


def test_a_body_of_no_announced_length_ends_with_the_connection() -> None:
    head, body, complete, _ = outcome(OK + b"\r\n", b"so", b"me")
    assert isinstance(head, Head)
    assert (body, complete) == (b"some", False)
    assert outcome(OK + b"\r\nsome", ends=True)[2:] == (True, False)
    assert outcome(OK + b"Content-Length: 9\r\n\r\nsome", ends=True)[2:] == (False, False)
    assert outcome(CHUNKED + b"4\r\nsome\r\n", ends=True)[2:] == (False, False)
    assert outcome(OK, ends=True)[2:] == (False, False)


def test_the_answer_to_a_head_ends_with_its_head_and_is_the_last() -> None:
    raw = OK + b"Content-Length: 1000\r\n\r\n"
    assert outcome(raw, bodiless=True)[1:] == (b"", True, False)
    assert outcome(raw + b"surplus", bodiless=True)[1:] == (b"", True, False)


@pytest.mark.parametrize(
    "raw",
    [
        OK + b"".join(b"X-%d: 1\r\n" % i for i in range(101)) + b"\r\n",
        OK + b"X: " + b"a" * 40_000 + b"\r\n\r\n",
        OK + b"a" * 40_000,
        b"HTTP/1.1 200 " + b"a" * 40_000 + b"\r\n\r\n",
        b"HTTP/1.1 103 Hints\r\nX: 1\r\n\r\n" * 2000,
    ],
    ids=["many", "value", "name", "reason", "interim"],
)
@pytest.mark.parametrize("size", [1000, 10**6])
def test_heads_are_bounded_however_they_arrive(raw: bytes, size: int) -> None:
    assert outcome(*(raw[at : at + size] for at in range(0, len(raw), size)))[0] == "OversizedHead"


@pytest.mark.parametrize("endless", [b"1;" + b"x" * 40_000, b"0\r\nX: " + b"x" * 40_000, b"0\r\n" + b"X: 1\r\n" * 102])
def test_what_surrounds_the_body_is_bounded_too(endless: bytes) -> None:
    raw = CHUNKED + b"1\r\na\r\n" + endless
    assert outcome(*(raw[at : at + 1000] for at in range(0, len(raw), 1000)))[0] == "OversizedHead"


def test_many_small_chunks_are_no_oversized_head() -> None:
    raw = CHUNKED + b"1\r\na\r\n" * 50_000 + b"0\r\n\r\n"
    for size in (1000, 10**6):
        assert outcome(*(raw[at : at + size] for at in range(0, len(raw), size)))[1:] == (b"a" * 50_000, True, True)


_LINES = st.sampled_from(
    [
        *(OK, b"\r\n", b"HTTP/1.1 ", b"HTTP/1.0 100 \r\n", b"Content-Length: 3\r\n", b"Transfer-Encoding: chunked\r\n"),
        *(b"Connection: close\r\n", b"X: \xff\r\n", b"3\r\nabc\r\n", b"0\r\n\r\n", b"abc", b"\x00", b"\n", b" "),
    ]
)


@given(st.lists(st.one_of(_LINES, st.binary(max_size=6)), max_size=20))
@example([OK, b"Upgrade: a\r\nConnection: upgrade\r\n", b"\r\n", b"abc"])
def test_no_bytes_do_more_than_break_the_answer(pieces: list[bytes]) -> None:
    head, body, complete, kept = outcome(*pieces)
    assert complete or not kept
    assert isinstance(head, Head) or not complete
    assert len(body) <= sum(map(len, pieces))
