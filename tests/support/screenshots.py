"""Pictures of the pages, taken of a running service with the real extractors.

``make screenshots`` writes those that the documents show into ``docs/images``; with a folder as argument,
all pages in light and dark, on a desk and on a phone, to be looked at.
"""

import asyncio
import random
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal
from uuid import UUID

from playwright.async_api import Browser

from fluxx.extractors.run import Running, serve
from fluxx.extractors.samples import sample_files
from fluxx.extractors.simulator import Simulation
from fluxx.telemetry import Facts
from support.browser import KINDS, PHONE, WIDE, Site, running_browser, visit
from support.past import make_past
from support.service import KEY, house

ROOT: Final = Path(__file__).parents[2]
IMAGES: Final = ROOT / "docs" / "images"
DOCUMENTS: Final = (*sample_files(), ROOT / "tests" / "documents" / "senate-expenditures.pdf")
CLIENTS: Final = ("Harbour Trading", "City Archive")
SHOWN: Final = ("overview", "job", "file")
SETTINGS: Final[dict[str, Any]] = {"poll_interval_seconds": 0.5, "poll_max_interval_seconds": 2.0}
SLOW: Final = Simulation(min_seconds=300, max_seconds=600)
SIZES: Final = {"desk": WIDE, "phone": PHONE}
MODES: Final[Sequence[Literal["light", "dark"]]] = ("light", "dark")


async def main(folder: Path | None) -> None:
    """Take the pictures that the documents show, or all of them into ``folder``."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        async with serve(KINDS, facts=Facts(), workers=1, api_key=KEY.reveal(), simulation=SLOW) as extractors:
            clients = await _past(home, extractors)
            async with house(home, **SETTINGS) as fluxx, running_browser() as browser:
                site = Site(fluxx, extractors)
                pages = await _present(site, clients)
                if folder is None:
                    shown = {name: pages[name] for name in SHOWN}
                    await _taken(browser, site, shown, IMAGES, sizes=["desk"], whole=False)
                else:
                    await _taken(browser, site, pages, folder, sizes=[*SIZES], whole=True)


async def _past(home: Path, extractors: Running) -> Sequence[UUID]:
    """Register two client applications and let them have had busy hours."""
    async with house(home, roles=frozenset({"registration"})) as fluxx:
        site = Site(fluxx, extractors)
        clients = [await site.client(name, "text", "tables") for name in CLIENTS]
        await site.extractor(clients[1], "simulator")
        await make_past(home, await fluxx.world.registrations.extractors(None), random.Random(7))
    return clients


async def _present(site: Site, clients: Sequence[UUID]) -> Mapping[str, str]:
    """Hand in documents, wait for the real extractors, and return the pages there are."""
    files = [await site.hand_in(clients[path.suffix == ".xlsx"], path) for path in DOCUMENTS]
    for file_id in files:
        await site.fluxx.finished(file_id, 2)
    good, slow, bad = [await site.fluxx.jobs_of(file_id) for file_id in files[:3]]
    started = [job for job in slow if job["status"] == "Started"]
    return {
        "overview": "/dashboard",
        "jobs": "/dashboard/jobs",
        "failures": "/dashboard/jobs?status=Failed",
        "none": "/dashboard/jobs?search=nothing",
        "job": f"/dashboard/job/{good[-1]['jobId']}",
        "failed": f"/dashboard/job/{bad[-1]['jobId']}",
        "waiting": f"/dashboard/job/{started[0]['jobId']}",
        "file": f"/dashboard/file/{files[0]}",
        "extractors": "/dashboard/extractors",
        "upload": "/dashboard/upload",
    }


async def _taken(
    browser: Browser, site: Site, pages: Mapping[str, str], folder: Path, *, sizes: Sequence[str], whole: bool
) -> None:
    for size in sizes:
        async with visit(browser, site.url, viewport=SIZES[size]) as page:
            for name, path in pages.items():
                await page.goto(path)
                for mode in MODES:
                    await page.emulate_media(color_scheme=mode)
                    kind = mode if len(sizes) == 1 else f"{mode}-{size}"
                    await page.screenshot(path=folder / f"{name}-{kind}.png", full_page=whole)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
