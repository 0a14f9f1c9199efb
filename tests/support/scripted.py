"""A scripted extractor: a real HTTP server on loopback that keeps contract v1 until told otherwise.

Story and fault tests run against it. Left alone it takes every POST with 201 and answers each job's
GETs with "not ready" a few times and then with a result. A script changes that::

    async with ScriptedExtractor(not_ready=1) as extractor:
        extractor.on_submit(Reply(503), Reply(drop=True))  # then as the contract says
        extractor.on_poll(lambda request: Reply(404))  # for ever
        extractor.on_path("/results/7", Reply(body=b"..."))  # anything else, e.g. a resultUrl
        await extractor.wait_for(lambda: extractor.polls(job_id))
"""

import asyncio
import inspect
import json
import ssl
from collections import Counter
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Self, TypeAlias
from uuid import UUID

import msgspec
from aiohttp import web
from multidict import CIMultiDictProxy

Body: TypeAlias = bytes | dict[str, Any] | AsyncIterable[bytes]


class Reply(msgspec.Struct, frozen=True):
    """One answer. A dict is sent as JSON, an async iterable in chunks; ``delay`` is in seconds.

    ``hang`` never answers, ``drop`` closes the connection without an answer, ``truncate`` closes
    it in the middle of the body.
    """

    status: int = 200
    body: Body = b""
    headers: Mapping[str, str] = {}
    delay: float = 0.0
    hang: bool = False
    drop: bool = False
    truncate: bool = False


class Received(msgspec.Struct, frozen=True):
    """A request as it arrived; ``path`` comes with its query, ``at`` is the event loop's time."""

    method: str
    path: str
    headers: CIMultiDictProxy[str]
    body: bytes
    at: float

    @property
    def json(self) -> Any:
        """The body, read as JSON."""
        return json.loads(self.body)

    @property
    def job_id(self) -> UUID | None:
        """The job it is about: named in the body of a POST, at the path's end of a GET."""
        try:
            return UUID(self.json["jobId"] if self.method == "POST" else self.path.partition("?")[0].split("/")[-1])
        except (ValueError, KeyError, TypeError):
            return None


Answering: TypeAlias = Callable[[Received], Reply | Awaitable[Reply | None] | None]
"""A script for ever; None means "as the contract says"."""


class _Script(msgspec.Struct, frozen=True):
    steps: tuple[Reply | Answering, ...]
    job_id: UUID | None = None
    path: str | None = None
    method: str | None = None
    taken: Counter[UUID | None] = msgspec.field(default_factory=Counter)

    async def answer(self, request: Received) -> Reply | None:
        """Return this script's next reply for the request's job; each job runs through it alone."""
        if (
            self.path not in (None, request.path.partition("?")[0])
            or self.method not in (None, request.method)
            or self.job_id not in (None, request.job_id)
            or (self.method is not None and request.job_id is None)
            or self.taken[request.job_id] >= len(self.steps)
        ):
            return None
        step = self.steps[self.taken[request.job_id]]
        if isinstance(step, Reply):
            self.taken[request.job_id] += 1
            return step
        reply = step(request)
        return await reply if inspect.isawaitable(reply) else reply


class ScriptedExtractor:
    """The server. ``not_ready`` polls of a job are answered "not yet" before its ``result`` comes.

    A ``result`` in bytes is JSON to be sent exactly so. Later scripts go over earlier ones.
    """

    def __init__(
        self,
        *,
        not_ready: int = 1,
        result: dict[str, Any] | bytes = b'{"text": "Hello"}',
        host: str = "127.0.0.1",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.requests: list[Received] = []
        self.url = ""
        self.not_ready = not_ready
        self.result = result if isinstance(result, bytes) else json.dumps(result).encode()
        self._scripts: list[_Script] = []
        self._polled: Counter[UUID | None] = Counter()
        self._host = host
        self._tls = tls
        self._arrival = asyncio.Condition()
        # An answer that nobody waits for any more is given up.
        server = web.Server(self._serve, handler_cancellation=True, access_log=None)
        self._runner = web.ServerRunner(server, shutdown_timeout=0.1)

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, 0, ssl_context=self._tls)
        await site.start()
        scheme = "https" if self._tls else "http"
        self.url = f"{scheme}://{self._host}:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._runner.cleanup()

    @property
    def extraction_url(self) -> str:
        """The URL to register."""
        return f"{self.url}/extract"

    def on_submit(self, *steps: Reply | Answering, job_id: UUID | None = None) -> None:
        """Script the answers to POSTs: of every job, or of one."""
        self._scripts.insert(0, _Script(steps, job_id=job_id, method="POST"))

    def on_poll(self, *steps: Reply | Answering, job_id: UUID | None = None) -> None:
        """Script the answers to GETs that end in a job id: of every job, or of one."""
        self._scripts.insert(0, _Script(steps, job_id=job_id, method="GET"))

    def on_path(self, path: str, *steps: Reply | Answering) -> None:
        """Script the answers at one path, whatever the method."""
        self._scripts.insert(0, _Script(steps, path=path))

    def submissions(self, job_id: UUID | None = None) -> list[Received]:
        """Return the POSTs so far: all, or those of one job."""
        return [r for r in self.requests if r.method == "POST" and job_id in (None, r.job_id)]

    def polls(self, job_id: UUID | None = None) -> list[Received]:
        """Return the GETs that end in a job id so far: all, or those of one job."""
        return [r for r in self.requests if r.method == "GET" and r.job_id and job_id in (None, r.job_id)]

    async def wait_for(self, fact: Callable[[], object], *, timeout: float = 10.0) -> None:
        """Return once ``fact`` holds, looked at after every request; raise TimeoutError otherwise."""
        async with asyncio.timeout(timeout), self._arrival:
            await self._arrival.wait_for(lambda: bool(fact()))

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        now = asyncio.get_running_loop().time()
        received = Received(request.method, request.path_qs, request.headers, await request.read(), now)
        self.requests.append(received)
        self._polled[received.job_id] += received.method == "GET"
        async with self._arrival:
            self._arrival.notify_all()
        for script in self._scripts:
            if reply := await script.answer(received):
                return await _send(request, reply)
        return await _send(request, self._as_contracted(received))

    def _as_contracted(self, request: Received) -> Reply:
        if request.method == "POST":
            return Reply(201, {"jobId": str(request.job_id)})
        if request.job_id is None:
            return Reply(404)
        if self._polled[request.job_id] <= self.not_ready:
            return Reply(body={"isReady": False})
        return Reply(
            body=b'{"isReady": true, "result": ' + self.result + b"}", headers={"Content-Type": "application/json"}
        )


async def _send(request: web.BaseRequest, reply: Reply) -> web.StreamResponse:
    if reply.hang:
        await asyncio.Event().wait()
    await asyncio.sleep(reply.delay)
    if reply.drop:
        return _hung_up(request)
    body, headers = _encoded(reply)
    if isinstance(body, bytes) and not reply.truncate:
        return web.Response(status=reply.status, body=body, headers=headers)
    response = web.StreamResponse(status=reply.status, headers=headers)
    if isinstance(body, bytes):
        response.content_length = len(body) + 1
        body = _pieces(body)
    await response.prepare(request)
    async for piece in body:
        await response.write(piece)
    return _hung_up(request) if reply.truncate else response


def _encoded(reply: Reply) -> tuple[bytes | AsyncIterable[bytes], Mapping[str, str]]:
    if isinstance(reply.body, dict):
        return json.dumps(reply.body).encode(), {"Content-Type": "application/json", **reply.headers}
    return reply.body, reply.headers


async def _pieces(body: bytes) -> AsyncIterable[bytes]:
    yield body


def _hung_up(request: web.BaseRequest) -> web.StreamResponse:
    if request.transport:
        request.transport.close()
    return web.StreamResponse()
