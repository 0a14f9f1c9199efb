"""Callers that stop reading, or stop sending, hold nothing up."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from uuid import UUID, uuid4

import msgspec
import pytest
from msgspec.structs import replace
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from fluxx.api.access.callers import Role
from fluxx.api.access.roles import NEEDS, PAGE_NEEDS
from fluxx.api.app import create_app
from fluxx.api.connection import Connection
from fluxx.api.patience import LEAST_RATE, SILENCE_SECONDS, Patience
from fluxx.api.server import HttpServer
from fluxx.dashboard.session import SIGN_IN
from fluxx.dashboard.site import add_dashboard
from fluxx.model.outcome import Extracted, Submitted
from fluxx.ports.blobs import Opened
from fluxx.roles import Roles
from fluxx.running import api_context
from fluxx.telemetry import REQUEST_FAILED
from fluxx.wiring_dashboard import dashboard_context
from simulation.virtual_loop import VirtualLoop
from support.access import Known, known, setting
from support.facts import BOUND
from support.placed_jobs import placed_job
from support.service import House, house
from support.serving import serving

ENDLESS = 2**50


class EndlessBlobs:
    """Holds one blob that never ends, and tells when it was closed and how much was read."""

    def __init__(self) -> None:
        self.closed = asyncio.Event()
        self.read = 0

    @asynccontextmanager
    async def open(self, *_: object, **__: object) -> AsyncIterator[Opened]:
        try:
            yield Opened(ENDLESS, self._chunks())
        finally:
            self.closed.set()

    async def _chunks(self) -> AsyncIterator[bytes]:
        while True:
            self.read += 2**16
            yield bytes(2**16)


async def test_a_reader_that_goes_away_ends_the_reading(tmp_path: Path) -> None:
    async with house(tmp_path, roles=frozenset({"files"})) as fluxx:
        client = await fluxx.client_application()
        extractor = await fluxx.extractor(client, "https://ocr.example.com/")
        outcomes = [Submitted("Taken."), Extracted("results/x", ENDLESS, "00")]
        job = await placed_job(fluxx.world, await fluxx.upload(client), extractor, outcomes)
        blobs = EndlessBlobs()
        server = HttpServer(create_app(replace(api_context(fluxx.world), blobs=blobs)), host="127.0.0.1", port=0)
        async with serving(server):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(f"GET /extractor/job/{job.job_id}/result HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
            writer.transport.abort()
            await asyncio.wait_for(blobs.closed.wait(), BOUND)
        assert blobs.read < 64 * 2**20
        assert fluxx.heard.of(REQUEST_FAILED) == []


class Hasty(Connection):
    """Gives a body that was answered before its end little time to end."""

    head_seconds = 0.5


class Slow(msgspec.Struct, frozen=True):
    """A guarded service that has ``patience`` seconds for a body."""

    house: House
    port: int
    key: Known
    client: UUID

    async def begin(self, method: str, path: str, *, length: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Send a head that promises ``length`` bytes, and the first of them; with a key where one is asked for."""
        unknown = dict.fromkeys(("extractorId", "fileId", "jobId"), uuid4())
        place = path.replace(":path", "").format(**unknown, clientAppId=self.client, path="nowhere")
        place += f"?clientApplicationId={self.client}" if path == "/files" else ""
        kind = next(kind for beginning, kind in KINDS.items() if path.startswith(beginning))
        key = "" if path == SIGN_IN else f"Authorization: {self.key.headers['Authorization']}\r\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        head = f"{method} {place} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{key}\r\n"
        writer.write(head.encode() + (PART if kind.startswith("multipart") else b"{"))
        return reader, writer


KINDS = {
    "/files": "multipart/form-data; boundary=b",
    "/dashboard/upload": "multipart/form-data; boundary=b",
    "/registration": "application/json",
    "/": "application/x-www-form-urlencoded",
}
PART = b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\n'
READ_A_BODY = {(method, path) for method, path in [*NEEDS, *PAGE_NEEDS] if method in ("POST", "PATCH")} - {
    ("POST", "/extractor/job/{jobId}/cancel"),
    ("POST", "/extractor/job/{jobId}/retry"),
    ("POST", "/dashboard/sign-out"),
    ("POST", "/dashboard/{path:path}"),
}


@asynccontextmanager
async def impatient(home: Path, *, patience: float) -> AsyncIterator[Slow]:
    """Serve with another patience than the service's own."""
    key = known(Role.ADMIN)
    roles: Roles = frozenset({"registration", "files", "jobs"})
    async with house(home, roles=roles, api_keys=setting(key)) as fluxx:
        context = api_context(fluxx.world)
        app = create_app(context, patience=patience)
        add_dashboard(app, dashboard_context(fluxx.world, context, roles))
        server = HttpServer(app, host="127.0.0.1", port=0, connection=Hasty)
        async with serving(server):
            yield Slow(fluxx, server.port, key, await fluxx.client_application())
        context.live.close()


async def whole_answer(reader: asyncio.StreamReader) -> tuple[int, bytes, bytes]:
    """The status, head and body of the one answer, once the server has closed the connection."""
    async with asyncio.timeout(BOUND):
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    return int(head.split()[1]), head, body


async def test_on_no_route_a_body_that_stops_holds_a_connection(tmp_path: Path) -> None:
    async with impatient(tmp_path, patience=0.2) as slow:

        async def given_up(route: tuple[str, str]) -> bool:
            reader, writer = await slow.begin(*route, length=1000)
            status, head, body = await whole_answer(reader)
            writer.close()
            if status != 408:
                return False
            assert b"content-type: application/problem+json" in head
            assert b"connection: close" in head
            assert b"x-content-type-options: nosniff" in head
            assert json.loads(body)["status"] == 408
            return True

        routes = [*NEEDS, *PAGE_NEEDS]
        answers = await asyncio.gather(*(given_up(route) for route in routes))
        assert {route for route, is_given_up in zip(routes, answers, strict=True) if is_given_up} == READ_A_BODY
        assert slow.house.heard.of(REQUEST_FAILED) == []
        assert not [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]


async def test_single_bytes_win_no_time(tmp_path: Path) -> None:
    async with impatient(tmp_path, patience=0.2) as slow:
        reader, writer = await slow.begin("POST", SIGN_IN, length=1000)
        answer = asyncio.create_task(reader.readline())
        async with asyncio.timeout(BOUND):
            while not answer.done():
                writer.write(b"x")
                await asyncio.wait([answer], timeout=0.05)
        with suppress(ConnectionResetError):  # a byte that was on its way as the connection was closed
            assert (await answer).startswith(b"HTTP/1.1 408 ")
        writer.close()


@pytest.mark.parametrize("path", [SIGN_IN, "/files", "/registration/client-applications"])
async def test_pieces_that_come_slowly_but_steadily_are_waited_for(tmp_path: Path, path: str) -> None:
    patience, piece, pieces = 1.0, b"x" * 1000, 15
    async with impatient(tmp_path, patience=patience) as slow:
        reader, writer = await slow.begin("POST", path, length=len(piece) * pieces + 1)
        answer = asyncio.create_task(reader.readline())
        for _ in range(pieces):
            assert not answer.done()
            writer.write(piece)
            await asyncio.wait([answer], timeout=patience / 10)
        writer.write(b"x" * len(PART))
        assert int((await asyncio.wait_for(answer, BOUND)).split()[1]) in (400, 422)  # the body made no sense
        writer.close()


@pytest.mark.parametrize(
    ("every", "size", "is_given_up"),
    [
        (1, LEAST_RATE, False),
        (SILENCE_SECONDS - 1, int(SILENCE_SECONDS * LEAST_RATE), False),
        (1, LEAST_RATE - 50, True),
        (SILENCE_SECONDS - 1, 1, True),
        (SILENCE_SECONDS + 1, 10**6, True),
    ],
)
def test_how_slow_a_body_may_come(every: float, size: int, is_given_up: bool) -> None:  # noqa: FBT001
    loop = VirtualLoop()
    sent: list[Message] = []

    async def receive() -> Message:
        piece = loop.create_future()
        loop.call_later(every, piece.set_result, {"type": "http.request", "body": bytes(size), "more_body": True})
        return await piece

    async def send(message: Message) -> None:
        sent.append(message)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        for _ in range(2000):
            if (await receive())["type"] == "http.disconnect":
                break
        await PlainTextResponse("read")(scope, receive, send)

    loop.run_until_complete(Patience(app, seconds=SILENCE_SECONDS)({"type": "http"}, receive, send))
    assert [message["status"] for message in sent if "status" in message] == [408 if is_given_up else 200]
