"""One service without a worker for each module of API tests: jobs stay where a test puts them."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from support.service import House, house


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fluxx(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    home = tmp_path_factory.mktemp("home")
    async with house(home, roles=frozenset({"registration", "files", "jobs"}), max_upload_bytes=1_000_000) as running:
        yield running
