"""Callers that stop reading, or stop sending, hold nothing up."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from starlette.exceptions import HTTPException

from fluxx.api.app import create_app
from fluxx.api.patience import patiently
from fluxx.api.server import HttpServer
from fluxx.model.outcome import Extracted, Submitted
from fluxx.ports.blobs import Opened
from fluxx.running import api_context
from fluxx.telemetry import REQUEST_FAILED
from support.facts import BOUND
from support.placed_jobs import placed_job
from support.service import house
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


async def test_a_sender_that_stops_is_given_up() -> None:
    async def stopping() -> AsyncIterator[bytes]:
        yield b"the beginning"
        await asyncio.Event().wait()

    pieces = patiently(stopping(), 0.02)
    assert await anext(pieces) == b"the beginning"
    with pytest.raises(HTTPException) as given_up:
        await anext(pieces)
    assert given_up.value.status_code == 408


async def test_patience_begins_anew_with_every_piece() -> None:
    async def steady() -> AsyncIterator[bytes]:
        for number in range(100):
            yield b"%d" % number

    assert [piece async for piece in patiently(steady(), 5)] == [b"%d" % number for number in range(100)]
