"""The extractor client: every call to an extractor leaves the service here, behind the egress guard.

It keeps the promise of ``ports.extractor``. Connections are kept and reused, but nothing else is
carried from call to call: no cookies, no proxies or credentials from the environment. A call is
made once; whether to make it again is the caller's to say.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from ipaddress import ip_address
from typing import Final

import aiohttp
from aiohttp.connector import AddrInfoType

from fluxx.adapters.http.answering import answer, beginning, patiently, pieces
from fluxx.adapters.http.egress import EgressGuard, Network
from fluxx.adapters.http.failures import telling
from fluxx.adapters.http.redirects import MAX_REDIRECTS, headers_for, next_target
from fluxx.adapters.http.resolving import CheckedResolver, Lookup, SystemLookup
from fluxx.adapters.http.target import Target
from fluxx.errors import NoAnswer
from fluxx.ports.extractor import Answer, Call, Download

IDLE_SECONDS: Final = 4.0
"""How long an idle connection is kept: less than the 5 seconds after which many servers close theirs."""
MAX_HEADERS: Final = 100
MAX_HEADER_BYTES: Final = 16 * 2**10
"""Bytes of the longest header line."""


class HttpExtractorClient:
    """``ports.extractor.ExtractorClient`` over HTTP/1.1.

    ``allowed_networks`` may be called besides public addresses; ``connect_timeout`` is in seconds;
    ``tls`` replaces the verification by the system's authorities, ``lookup`` the system's name
    resolution. Connections belong to the event loop of the first call.
    """

    def __init__(
        self,
        *,
        allowed_networks: Sequence[Network] = (),
        max_connections: int = 256,
        connect_timeout: float = 10.0,
        tls: ssl.SSLContext | None = None,
        lookup: Lookup | None = None,
    ) -> None:
        self._guard = EgressGuard(allowed_networks)
        self._max_connections = max_connections
        self._connect_timeout = connect_timeout
        self._tls = tls
        self._system = SystemLookup()
        self._lookup = lookup or self._system
        self._made: aiohttp.ClientSession | None = None

    async def exchange(self, call: Call) -> Answer:
        """Make the call and return the whole answer, whatever its status."""
        target = Target.parse(call.url)
        try:
            async with asyncio.timeout(call.timeout), self._answered(call, target) as (response, source):
                return answer(response, b"".join([piece async for piece in pieces(response, source, call.max_bytes)]))
        except TimeoutError:
            raise _too_slow(call, target) from None

    @asynccontextmanager
    async def download(self, call: Call) -> AsyncIterator[Download]:
        """Make the call and stream the body; ``timeout`` bounds the wait for the head and for each piece."""
        target = Target.parse(call.url)
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(call.timeout):
                    response, source = await stack.enter_async_context(self._answered(call, target))
                    body = pieces(response, source, call.max_bytes)
                    stack.push_async_callback(body.aclose)
                    start = b"" if response.status in range(200, 300) else await beginning(body)
            except TimeoutError:
                raise _too_slow(call, target) from None
            yield Download(answer(response, start), patiently(body, call.timeout, source))

    async def close(self) -> None:
        """Give back connections."""
        self._system.close()
        if self._made is not None:
            await self._made.close()

    @asynccontextmanager
    async def _answered(self, call: Call, target: Target) -> AsyncIterator[tuple[aiohttp.ClientResponse, Target]]:
        """Make the call, follow where it is sent, and give the answer's head with where it came from."""
        at_home = True
        for _ in range(MAX_REDIRECTS + 1):
            self._guard.check(target)
            headers = headers_for(call, at_home=at_home)
            async with self._session().request(
                call.method, target.url, headers=headers, data=call.body, allow_redirects=False
            ) as response:
                location = response.headers.get("Location")
                further = next_target(call, target, status=response.status, location=location)
                if further is None:
                    yield response, target
                    return
            at_home = at_home and further.origin == target.origin
            target = further
        raise NoAnswer(f"{target} is the end of more than {MAX_REDIRECTS} redirects.")

    def _session(self) -> aiohttp.ClientSession:
        if self._made is None:
            self._made = aiohttp.ClientSession(
                connector=self._connector(),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, connect=self._connect_timeout),
                auto_decompress=False,
                trust_env=False,
                max_headers=MAX_HEADERS,
                max_line_size=MAX_HEADER_BYTES,
                max_field_size=MAX_HEADER_BYTES,
                middlewares=[telling],
            )
        return self._made

    def _connector(self) -> aiohttp.TCPConnector:
        return aiohttp.TCPConnector(
            limit=self._max_connections,
            keepalive_timeout=IDLE_SECONDS,
            ssl=self._tls or True,
            resolver=CheckedResolver(self._lookup, self._guard),
            socket_factory=self._socket,
        )

    def _socket(self, info: AddrInfoType) -> socket.socket:
        """Open the socket for one connection: the last gate, whatever led here."""
        family, kind, protocol, _, address = info
        self._guard.permitted([ip_address(address[0])], of="An extractor")
        return socket.socket(family, kind, protocol)


def _too_slow(call: Call, target: Target) -> NoAnswer:
    return NoAnswer(f"{target} gave no answer within {call.timeout:g} s.")
