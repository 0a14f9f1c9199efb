"""Whatever a server sends, and however it stops: a call ends in time, with an answer or one of the port's errors."""

import asyncio
import contextlib
from collections.abc import Callable

import pytest
import uvloop
from hypothesis import given, settings
from hypothesis import strategies as st

from fluxx.errors import EgressRefused, NoAnswer, TooLarge
from support.calls import a_client, fetch, get
from support.raw_server import RawServer

_PARTS = st.sampled_from(
    [
        *(b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 302 Found\r\n", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.0 204 \r\n"),
        *(b"Content-Length: 3\r\n", b"Content-Length: 70000\r\n", b"Transfer-Encoding: chunked\r\n"),
        *(b"Content-Encoding: gzip\r\n", b"Content-Encoding: deflate\r\n", b"Content-Encoding: br\r\n"),
        *(b"Location: /again\r\n", b"Location: http://10.0.0.1/\r\n", b"Location: ://\r\n", b"Connection: close\r\n"),
        *(b"\r\n", b"\r\n\r\n", b"3\r\nabc\r\n", b"0\r\n\r\n", b"x" * 70_000, b"\x1f\x8b\x08\x00", b"\x00"),
    ]
)
_ANSWERS = st.lists(st.one_of(_PARTS, st.binary(max_size=8)), max_size=12).map(b"".join)


async def called(how: str, answers: list[bytes], *, then_close: bool) -> None:
    """Call three times over the same client; what must not come through comes through."""
    patience = 10.0 if then_close else 0.02
    async with RawServer(*answers, then_close=then_close) as server, a_client() as client, asyncio.timeout(20):
        for _ in range(3):
            with contextlib.suppress(NoAnswer, TooLarge, EgressRefused):
                await fetch(how, client, get(f"{server.url}/x", timeout=patience))
        await client.close()
        await server.wait_for(lambda: server.open == 0)


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
@pytest.mark.parametrize("how", ["exchange", "download"])
@pytest.mark.parametrize("server", ["closes", "waits"])
def test_every_call_ends_as_the_port_promises(
    loop: Callable[[], asyncio.AbstractEventLoop], how: str, server: str
) -> None:
    with asyncio.Runner(loop_factory=loop) as runner:

        @settings(max_examples=50)
        @given(st.lists(_ANSWERS, min_size=1, max_size=3))
        def every(answers: list[bytes]) -> None:
            runner.run(called(how, answers, then_close=server == "closes"))

        every()
