"""A server below HTTP: it answers each request with exactly the bytes it is given, and counts connections."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self


class RawServer:
    """Listens on loopback; ``answers`` are sent in turn, the last one for ever.

    It reads a request's head only, so call it with GET; the heads are kept in ``heads``.
    ``connections`` counts those accepted, ``open`` those that neither side has closed yet.
    """

    def __init__(self, *answers: bytes, then_close: bool = False) -> None:
        self.url = ""
        self.connections = 0
        self.open = 0
        self.heads: list[bytes] = []
        self._answers = answers
        self._then_close = then_close
        self._change = asyncio.Condition()

    @property
    def requests(self) -> int:
        """How many requests came."""
        return len(self.heads)

    async def wait_for(self, fact: Callable[[], object], *, timeout: float = 10.0) -> None:
        """Return once ``fact`` holds, looked at after every change; raise TimeoutError otherwise."""
        async with asyncio.timeout(timeout), self._change:
            await self._change.wait_for(lambda: bool(fact()))

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.heads.append(head)
                await self._changed()
                writer.write(self._answers[min(self.requests, len(self._answers)) - 1])
                await writer.drain()
                if self._then_close:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
            self.open -= 1
            await self._changed()

    async def _changed(self) -> None:
        async with self._change:
            self._change.notify_all()
