"""The extractor client: every call to an extractor leaves the service here, behind the egress guard.

It keeps the promise of ``ports.extractor`` (why it stands on no HTTP library:
``docs/decisions/0014-http-client.md``). Connections are kept and reused, but nothing else is
carried from call to call: no cookies, no proxies or credentials from the environment. A call is
made once; whether to make it again is the caller's to say.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from fluxx.adapters.http.answering import ANY_SIZE, beginning, decoded, patiently, telling, whole
from fluxx.adapters.http.connecting import Connector
from fluxx.adapters.http.connection import Connection
from fluxx.adapters.http.egress import EgressGuard, Network
from fluxx.adapters.http.failures import TROUBLE, told
from fluxx.adapters.http.incoming import Head
from fluxx.adapters.http.pool import Pool
from fluxx.adapters.http.redirects import MAX_REDIRECTS, next_target
from fluxx.adapters.http.requesting import request
from fluxx.adapters.http.resolving import Lookup, Names, SystemLookup
from fluxx.adapters.http.target import Target
from fluxx.errors import EgressRefused, NoAnswer
from fluxx.ports.extractor import Answer, Call, Download


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
        self._system = SystemLookup()
        self._names = Names(lookup or self._system)
        connector = Connector(guard=self._guard, names=self._names, tls=tls, timeout=connect_timeout)
        self._pool = Pool(connector.connect, max_connections=max_connections)

    async def exchange(self, call: Call) -> Answer:
        """See ``ExtractorClient.exchange``."""
        trip = _Trip(self._guard.admit(call.url))
        try:
            connection, head = await self._answered(call, trip)
            if head.is_success:
                body = await whole(connection, head, call.max_bytes)
            else:
                body = await beginning(decoded(connection, head, ANY_SIZE))
        except TROUBLE as trouble:
            raise told(trouble, trip.target, call) from None
        finally:
            trip.end(self._pool)
        return Answer(head.status, head.reason, head.headers, body)

    @asynccontextmanager
    async def download(self, call: Call) -> AsyncIterator[Download]:
        """See ``ExtractorClient.download``; ``timeout`` bounds the wait for the head too."""
        trip = _Trip(self._guard.admit(call.url))
        async with AsyncExitStack() as stack:
            stack.callback(trip.end, self._pool)
            try:
                connection, head = await self._answered(call, trip)
                bound = call.max_bytes if head.is_success else ANY_SIZE
                body = telling(decoded(connection, head, bound), trip.target, call)
                stack.push_async_callback(body.aclose)
                start = b"" if head.is_success else await beginning(body)
            except TROUBLE as trouble:
                raise told(trouble, trip.target, call) from None
            connection.take_time()
            answer = Answer(head.status, head.reason, head.headers, start)
            yield Download(answer, patiently(body, call.timeout, trip.target))

    async def close(self) -> None:
        """Give back connections; calls that still run fail."""
        await self._names.close()
        self._system.close()
        await self._pool.close()

    async def _answered(self, call: Call, trip: "_Trip") -> tuple[Connection, Head]:
        """Make the call, follow where it is sent, and return the head of the answer that counts."""
        until = asyncio.get_running_loop().time() + call.timeout
        try:
            for _ in range(MAX_REDIRECTS + 1):
                origin = trip.target.origin
                sent = request(call, trip.target, at_home=trip.at_home)
                connection = self._pool.take_rested(origin) or await self._pool.take(origin, until=until)
                trip.connection = connection
                head = await connection.ask(sent, until=until, bodiless=call.method == "HEAD")
                trip.redirected_by = trip.target  # or it answers, and nothing can be refused any more
                further = next_target(call, trip.target, status=head.status, location=head.headers.get("location"))
                if further is None:
                    return connection, head
                trip.end(self._pool)
                trip.go_on(further)
                self._guard.check(further.origin)
        except EgressRefused as refusal:
            if trip.redirected_by is None:
                raise
            raise EgressRefused(f"{refusal} {trip.redirected_by} redirected there.") from refusal
        raise NoAnswer(f"{trip.redirected_by} is the end of more than {MAX_REDIRECTS} redirects.")


class _Trip:
    """Where a call has got to, who sent it there, and the connection that it holds there.

    ``at_home`` says that it never left the origin of its URL.
    """

    __slots__ = ("at_home", "connection", "redirected_by", "target")

    def __init__(self, target: Target) -> None:
        self.target = target
        self.at_home = True
        self.redirected_by: Target | None = None
        self.connection: Connection | None = None

    def go_on(self, further: Target) -> None:
        self.at_home = self.at_home and further.origin == self.target.origin
        self.target = further

    def end(self, pool: Pool) -> None:
        if self.connection is not None:
            pool.give_back(self.connection)
            self.connection = None
