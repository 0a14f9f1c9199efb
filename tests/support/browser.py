"""A browser looking at a running service with the real extractors, as the browser tests and the screenshots need it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import msgspec
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from fluxx.extractors.contract import Kind
from fluxx.extractors.run import Running, serve
from fluxx.extractors.simulator import Simulation
from fluxx.model.job import Extractor
from fluxx.telemetry import Facts
from support.chromium import QUIET, chromium
from support.service import KEY, House, house

KINDS: Final[Sequence[Kind]] = ("text", "tables", "simulator")
WIDE: Final = {"width": 1280, "height": 860}
PHONE: Final = {"width": 390, "height": 844}
PATIENCE_MS: Final = 45_000
RULES: Final = {
    "resultTypes": ["violations"],
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}
COLOURS: Final = {"resultTypes": ["violations"], "runOnly": ["color-contrast"]}
SLOW: Final = Simulation(min_seconds=1.0, max_seconds=1.5, not_ready=1)
"""The simulator is in no hurry, so that there is something to watch."""


class Site(msgspec.Struct, frozen=True):
    """A running service, and where its extractors are."""

    fluxx: House
    extractors: Running

    @property
    def url(self) -> str:
        """Where the service is."""
        return str(self.fluxx.service.url)

    async def client(self, name: str, *kinds: Kind) -> UUID:
        """Register a client application with extractors of these kinds."""
        client = await self.fluxx.client_application(name)
        for kind in kinds:
            await self.extractor(client, kind)
        return client

    async def extractor(self, client: UUID, kind: Kind) -> Extractor:
        """Register one of the running extractors, under the name of its kind."""
        return await self.fluxx.extractor(client, self.extractors.extraction_url(kind), name=kind)

    async def hand_in(self, client: UUID, document: Path, *, name: str | None = None) -> UUID:
        """Upload a document."""
        content = await asyncio.to_thread(document.read_bytes)
        return await self.fluxx.upload(client, content, name or document.name)


@asynccontextmanager
async def running_site(home: Path, *, simulation: Simulation = SLOW, **settings: Any) -> AsyncIterator[Site]:
    """Run a service and the extractors."""
    async with (
        serve(KINDS, facts=Facts(), workers=1, api_key=KEY.reveal(), simulation=simulation) as extractors,
        house(home, **settings) as fluxx,
    ):
        yield Site(fluxx, extractors)


@asynccontextmanager
async def running_browser() -> AsyncIterator[Browser]:
    """Run Chromium; raise ``ChromiumMissing``."""
    program = chromium()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=QUIET)
        try:
            yield browser
        finally:
            await browser.close()


class Troubles:
    """What went wrong in a page's scripts and what it could not load: there must be nothing."""

    def __init__(self, context: BrowserContext) -> None:
        self.all: list[str] = []
        context.on("weberror", lambda error: self.all.append(str(error.error)))
        context.on("console", lambda message: self.all.append(message.text) if message.type == "error" else None)


@asynccontextmanager
async def visit(browser: Browser, url: str, **options: Any) -> AsyncIterator[Page]:
    """Open a page of its own, with nothing remembered; leaving fails where its scripts had errors."""
    context = await browser.new_context(
        **{"base_url": url, "viewport": WIDE, "color_scheme": "light", "reduced_motion": "reduce"} | options
    )
    context.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)
    troubles = Troubles(context)
    try:
        yield await context.new_page()
    finally:
        await context.close()
    assert not troubles.all


@asynccontextmanager
async def steady(page: Page) -> AsyncIterator[Callable[[], float]]:
    """Watch that the page is not loaded anew; afterwards the callable says how much moved by itself (layout shift).

    The footer doesn't count: what is new above it pushes it down, and nobody is reading it.
    """
    await page.evaluate(
        """() => {
          document.querySelector("body > footer").hidden = true;
          window.shifted = 0;
          new PerformanceObserver((list) => { for (const each of list.getEntries()) window.shifted += each.value; })
            .observe({ type: "layout-shift" });
        }"""
    )
    shifted: list[float] = []
    yield lambda: shifted[0]
    found = await page.evaluate("window.shifted")
    assert found is not None, "the page was loaded anew"
    shifted.append(found)


async def violations(page: Page, rules: Mapping[str, list[str]] = RULES) -> list[str]:
    """Return what axe finds wrong with the page as it is shown now: the rule and the element."""
    found = await Axe().run(page, options=rules)
    return [
        f"{each['id']} ({each['impact']}): {node['html'][:160]} {node['failureSummary'][:200]}"
        for each in found.response["violations"]
        for node in each["nodes"]
    ]


async def overflow(page: Page) -> list[str]:
    """Return the elements that stick out of the page's right edge, and so make it scroll sideways."""
    sticking: list[str] = await page.evaluate(
        """() => document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("body *")]
             .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
             .map((each) => each.outerHTML.slice(0, 120))"""
    )
    return sticking
