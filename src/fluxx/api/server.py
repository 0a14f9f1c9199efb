"""Serves the HTTP application inside the service's own event loop, as a part of the supervisor.

Signals are the service's business, not the server's. What can't be listened on is one clear line.
"""

import asyncio
import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from fluxx.api.connection import Connection
from fluxx.errors import Misconfigured

GRACE_SECONDS: Final = 3
"""From ``stop`` until requests that still run are cut off."""
KEEP_ALIVE_SECONDS: Final = 30
BACKLOG: Final = 2048
LARGEST_PORT: Final = 65535

_WORDS: Final = {
    errno.EADDRINUSE: "port {port} is in use",
    errno.EADDRNOTAVAIL: "{host} is not an address of this machine",
    errno.EACCES: "port {port} may not be used by this user",
}


class HttpServer:
    """Listens, runs, stops.

    ``guarded`` tells that callers must show a key or token; ``connection`` sets the bounds.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        host: str,
        port: int,
        guarded: bool = False,
        connection: type[Connection] = Connection,
    ) -> None:
        self.host = host
        self._port = port
        self._guarded = guarded
        self._listener: socket.socket | None = None
        self._server = _Server(_config(app, connection))

    @property
    def port(self) -> int:
        """The port listened on; the one asked for until then."""
        return self._port

    @property
    def url(self) -> str:
        """The base URL to reach it at from this machine."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def is_everywhere(self) -> bool:
        """Whether it listens on all addresses of this machine, so that ``url`` means nothing on any other."""
        return self._listener is not None and ip_address(self._listener.getsockname()[0]).is_unspecified

    async def listen(self) -> None:
        """Take the address and port; connections wait until ``run``. Twice is once.

        Raises ``Misconfigured`` where that can't be, or where others could call without a key.
        """
        if self._listener is not None:
            return
        family, address = await self._resolved()
        if not self._guarded and not ip_address(address[0].partition("%")[0]).is_loopback:
            raise Misconfigured(
                f"{self.host} can be reached from other machines, and without API_KEYS or AUTH_ISSUER anyone could "
                "call: listen on 127.0.0.1."
            )
        self._listener = self._bound(family, address)
        self._port = self._listener.getsockname()[1]

    async def run(self) -> None:
        """Serve until ``stop``; running requests get a few seconds to end."""
        await self.listen()
        await self._server.serve(sockets=[self._listener] if self._listener else [])

    def stop(self) -> None:
        """Let ``run`` end; twice is fine."""
        self._server.should_exit = True

    async def _resolved(self) -> tuple[int, tuple[str, int]]:
        if not 0 <= self._port <= LARGEST_PORT:
            raise Misconfigured(f"{self._port} is not a port (0 to {LARGEST_PORT}).")
        try:
            found = await asyncio.get_running_loop().getaddrinfo(
                self.host, self._port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )
        except (OSError, UnicodeError):
            raise Misconfigured(f"{self.host!r} is not an address to listen on.") from None
        family, _, _, _, address = found[0]
        return family, (str(address[0]), self._port)

    def _bound(self, family: int, address: tuple[str, int]) -> socket.socket:
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
        except OSError as error:
            listener.close()
            words = _WORDS.get(error.errno or 0, "{host} port {port} can't be listened on: {error}")
            words = words.format(host=self.host, port=self._port, error=error.strerror)
            raise Misconfigured(f"The HTTP API can't be served: {words}.") from None
        return listener


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: the service has its own."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def _config(app: ASGIApp, connection: type[Connection]) -> uvicorn.Config:
    """Return uvicorn's settings; it logs nothing, since failures are told as facts."""
    return uvicorn.Config(
        app,
        http=connection,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
