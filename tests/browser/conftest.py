"""One browser and one service for all tests here: they keep apart by client applications of their own."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from support.browser import Site, running_browser, running_site, visit
from support.chromium import ChromiumMissing


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Chromium; where it is not and can't be installed, tests are skipped and say so."""
    try:
        async with running_browser() as running:
            yield running
    except ChromiumMissing as missing:
        pytest.skip(str(missing))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """A service with all roles, and the real extractors."""
    async with running_site(tmp_path_factory.mktemp("site")) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser, site: Site) -> AsyncIterator[Page]:
    """A page that nobody has used."""
    async with visit(browser, site.url) as opened:
        yield opened
