"""Fixtures of the HTTP adapters' tests: a server to call, a client to call it with."""

from collections.abc import AsyncIterator

import pytest

from fluxx.adapters.http.client import HttpExtractorClient
from support.calls import a_client
from support.scripted import ScriptedExtractor


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
