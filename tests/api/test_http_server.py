"""The server: what it listens on, what it refuses, how it ends."""

import asyncio
import json
import logging
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from fluxx.api.connection import LARGEST_HEAD, Connection
from fluxx.api.server import HttpServer
from fluxx.errors import Misconfigured
from support.facts import BOUND
from support.serving import serving


class Hall:
    """An application whose one slow answer waits until it is let go."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.let_go = asyncio.Event()
        self.app = Starlette(routes=[Route("/", self.quick, methods=["GET", "POST"]), Route("/slow", self.slow)])

    async def quick(self, request: Request) -> Response:
        return PlainTextResponse(f"{len(await request.body())} bytes")

    async def slow(self, _request: Request) -> Response:
        self.entered.set()
        await self.let_go.wait()
        return PlainTextResponse("at last")

    def server(self, host: str = "127.0.0.1", port: int = 0, *, guarded: bool = False) -> HttpServer:
        return HttpServer(self.app, host=host, port=port, guarded=guarded)


@asynccontextmanager
async def connection(server: HttpServer) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    yield reader, writer
    writer.close()


async def whole_answer(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    async with asyncio.timeout(10):
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    return head, body


async def test_port_zero_becomes_a_port_and_an_address() -> None:
    server = Hall().server()
    async with serving(server) as http:
        assert server.port > 0
        assert server.url == f"http://127.0.0.1:{server.port}"
        assert (await http.get("/")).text == "0 bytes"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2"])
async def test_loopback_may_be_served_without_keys(host: str) -> None:
    async with serving(Hall().server(host)) as http:
        assert (await http.get("/")).status_code == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
async def test_other_addresses_are_refused_without_keys_in_one_line(host: str) -> None:
    with pytest.raises(Misconfigured, match="API_KEYS") as refused:
        await Hall().server(host).listen()
    assert "\n" not in str(refused.value)


async def test_with_keys_every_address_may_be_served() -> None:
    async with serving(Hall().server("0.0.0.0", guarded=True)) as http:
        assert (await http.get("/")).status_code == 200


@contextmanager
def taken_port() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


async def test_a_port_in_use_is_one_line() -> None:
    with taken_port() as port, pytest.raises(Misconfigured) as refused:
        await Hall().server(port=port).listen()
    assert str(refused.value) == f"The HTTP API can't be served: port {port} is in use."


@pytest.mark.parametrize(
    ("host", "port"),
    [("", 0), ("no such host", 0), ("host.invalid", 0), ("192.0.2.1", 0), ("127.0.0.1", 65536), ("x" * 300, 0)],
)
async def test_an_address_that_makes_no_sense_is_one_line(host: str, port: int) -> None:
    with pytest.raises(Misconfigured) as refused:
        await Hall().server(host, port, guarded=True).listen()
    assert "\n" not in str(refused.value)


async def test_stop_lets_a_running_request_end_and_takes_no_new_one() -> None:
    hall = Hall()
    server = hall.server()
    await server.listen()
    running = asyncio.create_task(server.run())
    async with httpx.AsyncClient(base_url=server.url, timeout=BOUND) as http:
        slow = asyncio.create_task(http.get("/slow"))
        await asyncio.wait_for(hall.entered.wait(), 10)
        server.stop()
        server.stop()
        hall.let_go.set()
        assert (await asyncio.wait_for(slow, 10)).text == "at last"
    await asyncio.wait_for(running, 10)
    with pytest.raises(httpx.ConnectError):
        async with httpx.AsyncClient(timeout=BOUND) as http:
            await http.get(server.url)


async def test_a_request_that_never_ends_does_not_hold_the_end_up() -> None:
    hall = Hall()
    server = hall.server()
    await server.listen()
    running = asyncio.create_task(server.run())
    async with httpx.AsyncClient(base_url=server.url, timeout=BOUND) as http:
        slow = asyncio.create_task(http.get("/slow"))
        await asyncio.wait_for(hall.entered.wait(), 10)
        server.stop()
        await asyncio.wait_for(running, 8)
        await asyncio.gather(slow, return_exceptions=True)


async def test_stopped_before_it_runs_it_ends_at_once() -> None:
    server = Hall().server()
    await server.listen()
    server.stop()
    await asyncio.wait_for(server.run(), 10)


async def test_signals_and_logs_are_left_to_the_service(capfd: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGTERM)
    async with serving(Hall().server()) as http:
        await http.get("/")
        assert signal.getsignal(signal.SIGTERM) is before
    assert capfd.readouterr() == ("", "")
    assert not logging.getLogger("uvicorn").handlers


async def test_what_is_no_http_is_a_problem() -> None:
    server = Hall().server()
    async with serving(server), connection(server) as (reader, writer):
        writer.write(b"\x16\x03\x01 hello\r\n\r\n")
        head, body = await whole_answer(reader)
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"content-type: application/problem+json" in head
    assert b"x-content-type-options: nosniff" in head
    assert json.loads(body)["status"] == 400


@pytest.mark.parametrize("beginning", [b"GET /", b"GET / HTTP/1.1\r\nHost: ", b"GET / HTTP/1.1\r\n"])
async def test_a_head_without_end_is_refused(beginning: bytes) -> None:
    filler = b"x: y\r\n" if beginning.endswith(b"\r\n") else b"x"
    server = Hall().server()
    async with serving(server), connection(server) as (reader, writer):
        writer.write(beginning + filler * (LARGEST_HEAD // len(filler) + 1))
        head, body = await whole_answer(reader)
    assert head.startswith(b"HTTP/1.1 431 ")
    assert json.loads(body)["status"] == 431


async def test_bodies_and_further_requests_count_for_no_head() -> None:
    async with serving(Hall().server()) as http:
        for size in (0, LARGEST_HEAD * 3, 5):
            assert (await http.post("/", content=b"x" * size)).text == f"{size} bytes"


class Hasty(Connection):
    head_seconds = 0.05


async def refusing(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer before any byte of the body, as the guard does."""
    await PlainTextResponse("no", 401)(scope, receive, send)


@pytest.mark.parametrize("head", [b"Transfer-Encoding: chunked", b"Content-Length: 1000000000"])
async def test_a_body_that_goes_on_after_its_refusal_is_cut_off(head: bytes) -> None:
    server = HttpServer(refusing, host="127.0.0.1", port=0, connection=Hasty)
    async with serving(server), connection(server) as (reader, writer):
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n\r\n5\r\nhello\r\n")
        said, _ = await whole_answer(reader)
    assert said.startswith(b"HTTP/1.1 401 ")


async def test_after_a_refusal_a_body_may_end_and_the_connection_goes_on() -> None:
    server = HttpServer(refusing, host="127.0.0.1", port=0)
    async with serving(server), connection(server) as (reader, writer):
        for _ in range(3):
            writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n" + b"x" * 200_000)
            async with asyncio.timeout(10):
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(2)
            assert head.startswith(b"HTTP/1.1 401 ")


async def test_a_head_that_does_not_come_ends_the_connection() -> None:
    server = HttpServer(Hall().app, host="127.0.0.1", port=0, connection=Hasty)
    async with serving(server):
        for beginning in (b"", b"GET / HTTP/1.1\r\nHost: slow"):
            async with connection(server) as (reader, writer):
                writer.write(beginning)
                assert await whole_answer(reader) == (b"", b"")
