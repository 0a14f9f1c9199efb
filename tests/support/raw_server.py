"""A server below HTTP: it answers each request with exactly the bytes it is given, and counts connections."""

import asyncio
from types import TracebackType
from typing import Self


class RawServer:
    """Listens on loopback; ``answers`` are sent in turn, the last one for ever.

    It reads a request's head only, so call it with GET. ``connections`` counts those accepted.
    """

    def __init__(self, *answers: bytes, then_close: bool = False) -> None:
        self.url = ""
        self.connections = 0
        self.requests = 0
        self._answers = answers
        self._then_close = then_close

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
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(self._answers[min(self.requests, len(self._answers) - 1)])
                self.requests += 1
                await writer.drain()
                if self._then_close:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()
