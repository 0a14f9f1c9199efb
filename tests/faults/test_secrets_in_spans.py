"""Extractors repeat their key in every error that they can cause: no span that goes to a collector tells it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from fluxx import settings as settings_module
from fluxx import wiring
from fluxx.ports.extractor import Call, Download, ExtractorClient
from fluxx.ports.secrets import ApiKey
from fluxx.telemetry import Facts
from fluxx.wiring import World
from support.collector import collecting
from support.hostile import MODES, Hostile
from support.scripted import ScriptedExtractor
from support.searching import Search
from support.service import house

KEY = ApiKey("w3Xk/8Rq5zB+Tn7LdV2yMc9Fh==")
TRIES = 3
LAST = "the last one"


class Crashing:
    """An extractor client whose downloads fail in a way that nobody foresaw, with all they know in their words."""

    def __init__(self, client: ExtractorClient) -> None:
        self.exchange = client.exchange
        self.close = client.close

    @asynccontextmanager
    async def download(self, call: Call) -> AsyncIterator[Download]:
        """Crash."""
        raise RuntimeError(f"no {call.url} for {KEY.reveal()}") from ValueError(f"Authorization: Bearer {KEY.reveal()}")
        yield


def crashing(world: World) -> World:
    return replace(world, extractors=Crashing(world.extractors))


def untouched(world: World) -> World:
    return world


@pytest.mark.parametrize("around", [untouched, crashing])
async def test_no_key_stands_in_any_span(tmp_path: Path, around: Callable[[World], World]) -> None:
    async with collecting() as collector, ScriptedExtractor() as server:
        settings = settings_module.load(fluxx_home=tmp_path, otel_exporter_otlp_endpoint=collector.url)
        facts = Facts(tracing=wiring.tracing(settings))
        tries = {"max_submit_attempts": TRIES, "max_poll_errors": TRIES}
        async with house(tmp_path, facts=facts, around=around, **tries) as fluxx:
            hostile = Hostile(server, rotate=lambda: None)
            client = await fluxx.client_application()
            for mode in MODES:
                await fluxx.extractor(client, hostile.url(mode), key=KEY, name=mode)
            jobs = await fluxx.finished(await fluxx.upload(client), len(MODES))
        with facts.span(LAST):  # spans leave in order: once this one has arrived, all others have
            pass
        await collector.wait_for(lambda: collector.spans and collector.spans[-1].name == LAST)
    told = "\n".join(collector.exports)
    assert list(Search({KEY.reveal(), *(given.signature for given in hostile.given.values())}).leaks(told)) == []
    assert {job["status"] for job in jobs} == {"Failed"}
    assert {span.name for span in collector.spans} >= {"submit", "poll", "store result"}
    assert "STATUS_CODE_ERROR" in told, "spans that an error left are among them"
