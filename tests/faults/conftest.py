"""What tests of single steps share: a server, and the steps of a job against it."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from support.scripted import Reply, ScriptedExtractor
from support.steps import Steps, steps


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Steps]:
    async with ScriptedExtractor() as server, steps(tmp_path_factory.mktemp("home"), server) as made:
        for path in ("/results/7", "/results/17"):
            server.on_path(path, lambda _request: Reply(body=b"[7]"))
        yield made
