"""An OpenTelemetry collector on loopback: takes OTLP over HTTP and keeps the spans."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import msgspec
from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from support.facts import BOUND


class Seen(msgspec.Struct, frozen=True):
    """A span as it arrived; ids in hexadecimal, ``parent`` empty for the first of a trace."""

    name: str
    trace_id: str
    span_id: str
    parent: str


class Collector:
    """What was sent to it."""

    def __init__(self) -> None:
        self.url = ""
        self.spans: list[Seen] = []
        self.exports: list[str] = []
        """All that was sent, as text: names, attributes, events, statuses."""
        self._arrival = asyncio.Condition()

    async def wait_for(self, fact: Callable[[], object]) -> None:
        """Return once ``fact`` holds, looked at after every export."""
        async with asyncio.timeout(BOUND), self._arrival:
            await self._arrival.wait_for(lambda: bool(fact()))

    async def take(self, request: web.BaseRequest) -> web.Response:
        """Take one export."""
        sent = ExportTraceServiceRequest.FromString(await request.read())
        async with self._arrival:
            self.exports.append(str(sent))
            self.spans += [
                Seen(span.name, span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex())
                for resource in sent.resource_spans
                for scope in resource.scope_spans
                for span in scope.spans
            ]
            self._arrival.notify_all()
        return web.Response(body=b"", content_type="application/x-protobuf")


@asynccontextmanager
async def collecting() -> AsyncIterator[Collector]:
    """Run a collector while the block lasts."""
    collector = Collector()
    runner = web.ServerRunner(web.Server(collector.take, access_log=None), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    collector.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield collector
    finally:
        await runner.cleanup()
