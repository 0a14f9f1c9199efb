"""The pages on a million jobs, and live events with 200 watchers: beside an empty database and one watcher.

"Empty" has a page of everything and a busy hour, so that both answer the same; the other has JOBS finished jobs, and a
day in which every extractor was busy in every minute. Pages are asked in turn of both, a second apart, so that no
number is kept from the last look; medians. The lag of an event is from the moment in it until it is read over HTTP.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
from sqlalchemy import insert

from api import free_port, listening
from databases import database
from fluxx.adapters.sql.rollups import ALL_MINUTES, COLUMNS
from fluxx.adapters.sql.tables import rollup
from fluxx.model.outcome import NotReady, Submitted
from machine import WORK_CORE, cpu_seconds, program, wait_until
from report import save, table
from support.databases import make_tables
from support.growing import Place, grown

EMPTY = 30_000
BUSY_HOURS = 25
PAUSE = 1.1
"""Seconds after which the numbers that pages share are read anew."""

WARM_UP = 3
CHANGES_EVERY = 0.13
PAGES = {
    "overview": "/dashboard",
    "overview, 24 h": "/dashboard?hours=24",
    "jobs": "/dashboard/jobs",
    "jobs, a later page": "/dashboard/jobs?after={job}",
    "jobs that failed": "/dashboard/jobs?status=Failed",
    "jobs of an extractor": "/dashboard/jobs?extractor={extractor}",
    "jobs of a client application that failed": "/dashboard/jobs?status=Failed&client={client}",
    "jobs by a file's name": "/dashboard/jobs?search=made-up.pdf",
    "jobs of some days": "/dashboard/jobs?since={since}&until={until}",
    "job": "/dashboard/job/{job}",
    "file": "/dashboard/file/{file}",
    "extractors": "/dashboard/extractors",
    "upload": "/dashboard/upload",
}


def busy(place: Place, *, all_day: bool) -> None:
    """Let extractors have finished something in every minute: all of them in the last hour, or all day; one all day.

    So that pages show the same of both, and only what they have to read for it differs.
    """
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    numbers = dict.fromkeys(COLUMNS, 0) | {"Queued": 3, "Started": 3, "Succeeded": 3, "Polls": 9, "Times3": 3}
    minutes = [ALL_MINUTES, *(now - timedelta(minutes=number) for number in range(BUSY_HOURS * 60))]
    with place.world.engine.begin() as connection:
        for number, one in enumerate(place.extractors):
            key = {"ClientApplicationExtractorID": one.client_application_extractor_id, "Slot": 16}
            some = minutes if all_day or number == 0 else minutes[:62]
            connection.execute(insert(rollup), [{"Minute": minute, **key, **numbers} for minute in some])


@contextmanager
def served(url: str, home: Path) -> Iterator[tuple[str, int]]:
    """Serve the pages of a database from a process of its own; give its address and the process."""
    port = free_port()
    environment = {"DATABASE_URL": url, "FLUXX_HOME": str(home), "RATE_LIMIT_PER_SECOND": "1000000"}
    command = [sys.executable, "-m", "fluxx", "serve", "jobs", "--port", str(port)]
    with program(command, core=WORK_CORE, environment=environment, log=home / "log") as child:
        wait_until(lambda: listening(port), bound=60)
        yield f"http://127.0.0.1:{port}", child.pid


def address(path: str, place: Place) -> str:
    """Fill in what the page is about, something else each time."""
    extractor = place.some_extractor()
    middle = datetime.now(UTC) - timedelta(days=150)
    return path.format(
        job=place.some_job(),
        file=place.some_file(),
        extractor=extractor.client_application_extractor_id,
        client=extractor.client_application_id,
        since=f"{middle:%Y-%m-%dT%H:%M}",
        until=f"{middle + timedelta(days=5):%Y-%m-%dT%H:%M}",
    )


async def timed(session: aiohttp.ClientSession, url: str) -> float:
    began = time.perf_counter()
    async with session.get(url) as answer:
        await answer.read()
        assert answer.status == 200, f"{url}: {answer.status}"
    return time.perf_counter() - began


async def pages_timed(
    session: aiohttp.ClientSession, sites: list[tuple[str, Place]], rounds: int
) -> dict[str, tuple[float, float]]:
    """Return each page's medians (seconds) on the empty and on the full database."""
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in PAGES}
    for number in range(WARM_UP + rounds):
        await asyncio.sleep(PAUSE)
        for name, path in PAGES.items():
            for which in (0, 1) if number % 2 else (1, 0):
                base, place = sites[which]
                took = await timed(session, base + address(path, place))
                if number >= WARM_UP:
                    times[name][which].append(took)
    return {name: (statistics.median(small), statistics.median(large)) for name, (small, large) in times.items()}


async def watch(session: aiohttp.ClientSession, base: str, lags: list[float]) -> None:
    """Follow all events for ever, and note how late each one is."""
    async with session.get(f"{base}/extractor/jobs/events") as answer:
        async for line in answer.content:
            if line.startswith(b"data: ") and (told := json.loads(line[6:]).get("timestamp")):
                late = datetime.now(UTC) - datetime.fromisoformat(told)
                lags.append(late.total_seconds())


@asynccontextmanager
async def watchers(session: aiohttp.ClientSession, base: str, count: int) -> AsyncIterator[list[float]]:
    """Let so many watch; give the list of the lags that they see."""
    lags: list[float] = []
    tasks = [asyncio.create_task(watch(session, base, lags)) for _ in range(count)]
    try:
        yield lags
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def lag(session: aiohttp.ClientSession, base: str, pid: int, place: Place, count: int, seconds: float) -> dict:
    """Let jobs change while ``count`` watch; return the events' lag and what else it costs."""
    async with watchers(session, base, count) as lags:
        await asyncio.sleep(3)
        lags.clear()
        cpu, began, changes = cpu_seconds(pid), time.monotonic(), 0
        while time.monotonic() - began < seconds:
            await place.world.happened(place.live[changes % len(place.live)], NotReady())
            changes += 1
            await asyncio.sleep(CHANGES_EVERY)
        await asyncio.sleep(3)
        took = [await timed(session, f"{base}/dashboard") for _ in range(20)]
        spent = cpu_seconds(pid) - cpu
    assert len(lags) == changes * count, f"{len(lags)} events read of {changes * count}"
    tiers = statistics.quantiles(lags, n=100)
    return {"p50": tiers[49], "p99": tiers[98], "overview": statistics.median(took), "cpu": spent, "changes": changes}


async def run(kind: str, options: argparse.Namespace, folder: Path) -> dict:
    with ExitStack() as bases:
        async with AsyncExitStack() as stack:
            sites, pids = [], []
            for name, count in (("empty", EMPTY), ("full", options.jobs)):
                (folder / name).mkdir()
                base = bases.enter_context(database(kind, folder / name))
                make_tables(base.url)
                began = time.monotonic()
                place = await stack.enter_async_context(grown(base.url, count))
                busy(place, all_day=name == "full")
                print(f"{kind}: {count:,} finished jobs in {time.monotonic() - began:.0f} s", flush=True)
                url, pid = bases.enter_context(served(base.url, folder / name))
                sites.append((url, place))
                pids.append(pid)
            session = await stack.enter_async_context(
                aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(None))
            )
            pages = await pages_timed(session, sites, options.rounds)
            (url, place), pid = sites[1], pids[1]
            for job in place.live:
                await place.world.happened(job, Submitted("HTTP 201"))
            lags = {
                count: await lag(session, url, pid, place, count, options.seconds) for count in (1, options.watchers)
            }
    return {"pages": pages, "lag": lags}


def show(kind: str, figures: dict, options: argparse.Namespace) -> list[str]:
    """Print both tables; return what is over the limit."""
    print()
    table(
        [f"{kind}, {options.jobs:,} jobs", "empty ms", "full ms", "ratio"],
        [
            [name, f"{1000 * small:.1f}", f"{1000 * large:.1f}", f"{large / small:.2f}"]
            for name, (small, large) in figures["pages"].items()
        ],
    )
    one, many = figures["lag"].values()
    print()
    table(
        [f"{kind}, live events", "1 watcher", f"{options.watchers} watchers", "ratio"],
        [
            ["lag p50 ms", *(f"{1000 * each['p50']:.0f}" for each in (one, many)), f"{many['p50'] / one['p50']:.2f}"],
            ["lag p99 ms", *(f"{1000 * each['p99']:.0f}" for each in (one, many)), f"{many['p99'] / one['p99']:.2f}"],
            [
                "overview meanwhile ms",
                *(f"{1000 * each['overview']:.1f}" for each in (one, many)),
                f"{many['overview'] / one['overview']:.2f}",
            ],
            ["CPU s", *(f"{each['cpu']:.2f}" for each in (one, many)), f"{many['cpu'] / max(one['cpu'], 0.01):.2f}"],
        ],
    )
    return [f"{kind}: {name}" for name, (small, large) in figures["pages"].items() if large / small > options.most]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--watchers", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20, help="how long jobs change while somebody watches")
    parser.add_argument("--kinds", nargs="*", default=["sqlite"])
    parser.add_argument("--most", type=float, default=1.5, help="largest ratio of a page that is fine")
    options = parser.parse_args()
    kept, slow = {}, []
    for kind in options.kinds:
        with tempfile.TemporaryDirectory() as folder:
            kept[kind] = asyncio.run(run(kind, options, Path(folder)))
        slow += show(kind, kept[kind], options)
    save("dashboard", {"jobs": options.jobs, **kept})
    print(f"over {options.most:g}: {', '.join(slow) or 'none'}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
