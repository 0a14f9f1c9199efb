"""A TCP gateway in front of a real HTTP server, to take it away from its clients and give it back."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Final, Self, TypeAlias
from urllib.parse import urlsplit

BUSY: Final = (
    b"HTTP/1.1 503 The server is busy.\r\nx-ms-error-code: ServerBusy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
)
Serving: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Gateway:
    """Hands bytes to and fro between its own ``url`` and that of ``target``.

    ``requests`` counts those answered by the gateway itself.
    """

    def __init__(self, target: str) -> None:
        self.requests = 0
        self.url = ""
        self._target = urlsplit(target)
        self._serving: Serving = self._pass_on
        self._busy_requests = 0
        self._connections: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = self._target._replace(netloc=f"127.0.0.1:{port}").geturl()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        self._hang_up()

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Answer 503 in the target's stead for a while; what was connected is cut off."""
        with self._instead(self._refuse):
            yield

    @contextmanager
    def away(self) -> Iterator[None]:
        """Hang up on whoever calls, for a while; what was connected is cut off."""
        with self._instead(_hang_up_at_once):
            yield

    def busy_for(self, requests: int) -> None:
        """Answer 503 to the next so many requests; what was connected is cut off."""
        self._busy_requests = requests
        self._hang_up()

    @contextmanager
    def _instead(self, serving: Serving) -> Iterator[None]:
        self._serving = serving
        self._hang_up()
        try:
            yield
        finally:
            self._serving = self._pass_on
            self._hang_up()

    def _hang_up(self) -> None:
        for writer in self._connections:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(writer)
        try:
            await (self._refuse if self._busy_requests else self._serving)(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._connections.discard(writer)
            writer.close()

    async def _refuse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
        await reader.readexactly(int(length[1]) if length else 0)
        self.requests += 1
        self._busy_requests = max(0, self._busy_requests - 1)
        writer.write(BUSY)
        await writer.drain()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(self._target.hostname, self._target.port)
        try:
            there = asyncio.create_task(_pump(reader, far_writer))
            back = asyncio.create_task(_pump(far_reader, writer))
            await asyncio.wait([there, back], return_when=asyncio.FIRST_COMPLETED)
            there.cancel()
            back.cancel()
            await asyncio.gather(there, back, return_exceptions=True)
        finally:
            far_writer.close()


async def _hang_up_at_once(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(2**16):
        writer.write(data)
        await writer.drain()
