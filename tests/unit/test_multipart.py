"""The form's file comes out the same however the body is cut into pieces; broken bodies are refused."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxx.api.multipart import file_part
from fluxx.errors import BadInput, TooLarge

BOUNDARY = b"xyz"
contents = st.binary(max_size=200) | st.lists(st.sampled_from([b"\r", b"\n", b"--", BOUNDARY, b"a"])).map(b"".join)


def form(content: bytes, *, name: bytes = b"file") -> bytes:
    head = b'Content-Disposition: form-data; name="' + name + b'"; filename="f.bin"\r\nContent-Type: a/b\r\n\r\n'
    return b"--" + BOUNDARY + b"\r\n" + head + content + b"\r\n--" + BOUNDARY + b"--\r\n"


async def pieces(body: bytes, cuts: Sequence[int]) -> AsyncIterator[bytes]:
    edges = [0, *sorted(cut % (len(body) + 1) for cut in cuts), len(body)]
    for start, end in pairwise(edges):
        yield body[start:end]


async def read(body: bytes, cuts: Sequence[int] = ()) -> tuple[str, str, bytes]:
    part = await file_part(BOUNDARY, pieces(body, cuts))
    return part.file_name, part.content_type, b"".join([piece async for piece in part.content])


@given(content=contents, cuts=st.lists(st.integers(0), max_size=20))
def test_a_file_is_the_same_in_pieces(content: bytes, cuts: list[int]) -> None:
    if b"\r\n--" + BOUNDARY not in b"\r\n" + content:
        assert asyncio.run(read(form(content), cuts)) == ("f.bin", "a/b", content)


@given(cut=st.integers(0, 119), content=st.just(b"x" * 20))
def test_a_body_cut_short_is_never_a_file(cut: int, content: bytes) -> None:
    whole = form(content).removesuffix(b"\r\n")
    with pytest.raises(BadInput):
        asyncio.run(read(whole[: min(cut, len(whole) - 1)]))


@given(body=st.binary(max_size=300), cuts=st.lists(st.integers(0), max_size=5))
def test_garbage_is_refused_and_breaks_nothing(body: bytes, cuts: list[int]) -> None:
    with pytest.raises((BadInput, TooLarge)):
        asyncio.run(read(body, cuts))
