"""An aiohttp application on a free port of loopback that can go away and come back there."""

import ssl
from types import TracebackType
from typing import Self

from aiohttp import web
from aiohttp.typedefs import Handler


class LoopbackServer:
    """Base of the servers below: subclasses add their routes to ``routes`` before it starts.

    ``answer_next`` puts faults in front of the routes; ``go_away`` refuses connections until
    ``come_back``. ``requests`` holds method and path of everything that arrived.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[str] = []
        self.url = ""
        self.routes = web.RouteTableDef()
        self._tls = tls
        self._port = 0
        self._faults: list[tuple[int, dict[str, str]]] = []
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        await self.come_back()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.go_away()

    def answer_next(self, status: int, *, times: int = 1, headers: dict[str, str] | None = None) -> None:
        """Answer the next requests with an error, whatever they ask."""
        self._faults += [(status, headers or {})] * times

    async def come_back(self) -> None:
        """Listen; the second time at the same port."""
        application = web.Application(middlewares=[self._guard])
        application.add_routes(self.routes)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port, ssl_context=self._tls, reuse_address=True).start()
        self._port = self._runner.addresses[0][1]
        self.url = f"{'https' if self._tls else 'http'}://127.0.0.1:{self._port}"

    async def go_away(self) -> None:
        """Close the port and every connection."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        self.requests.append(f"{request.method} {request.path}")
        if self._faults:
            status, headers = self._faults.pop(0)
            return web.json_response({"error": {"code": "Injected"}}, status=status, headers=headers)
        return await handler(request)
