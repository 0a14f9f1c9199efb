"""Fixtures of the HTTP adapters' tests: a server to call, a client to call it with."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
import uvloop

from fluxx.adapters.http.client import HttpExtractorClient
from support.calls import a_client
from support.scripted import ScriptedExtractor


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run every test on both event loops: transports differ in how they tell that a connection ends."""
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


@pytest.fixture
async def extractor() -> AsyncIterator[ScriptedExtractor]:
    async with ScriptedExtractor() as server:
        yield server


@pytest.fixture
async def client() -> AsyncIterator[HttpExtractorClient]:
    async with a_client() as made:
        yield made


@pytest.fixture(params=["exchange", "download"])
def how(request: pytest.FixtureRequest) -> str:
    """The two ways to fetch a body."""
    return str(request.param)
