"""What a long history costs: the same calls on a nearly empty database and on one with a million finished jobs.

"Nearly empty" has a page of everything, so that both answer the same; the other has JOBS finished jobs
with five history lines and three events each. Calls alternate between the two; medians; the ratio is
what counts. At the end the plans are shown that the large one uses.
"""

import argparse
import asyncio
import re
import statistics
import sys
import tempfile
import time
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

from databases import database
from report import save, table
from support.databases import make_tables
from support.growing import CALLS, Call, Place, grown
from support.plans import explained

EMPTY = 3000


async def timed(call: Call, place: Place) -> float:
    prepared = await call.prepare(place)
    began = time.perf_counter()
    await call.act(place, prepared)
    return time.perf_counter() - began


async def measured(call: Call, places: tuple[Place, Place], rounds: int) -> tuple[float, float]:
    """Return the medians (seconds) on the small and on the large database."""
    for place in places:
        for _ in range(10):
            await timed(call, place)
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds):
        for which in (0, 1) if number % 2 else (1, 0):
            times[which].append(await timed(call, places[which]))
    return statistics.median(times[0]), statistics.median(times[1])


async def run(kind: str, jobs: int, rounds: int, folder: Path) -> dict[str, tuple[float, float]]:
    with ExitStack() as bases:
        async with AsyncExitStack() as stack:
            opened = []
            for name, count in (("small", EMPTY), ("large", jobs)):
                (folder / name).mkdir()
                base = bases.enter_context(database(kind, folder / name))
                make_tables(base.url)
                began = time.monotonic()
                opened.append(await stack.enter_async_context(grown(base.url, count)))
                print(f"{kind}: {count:,} finished jobs in {time.monotonic() - began:.0f} s", flush=True)
            places = (opened[0], opened[1])
            figures = {name: await measured(call, places, rounds) for name, call in CALLS.items()}
            await show_plans(kind, places[1])
            return figures


async def show_plans(kind: str, place: Place) -> None:
    for name, call in CALLS.items():
        prepared = await call.prepare(place)
        with explained(place.world.engine) as plans:
            await call.act(place, prepared)
        lines = [line for line in plans.all.splitlines() if "Index" in line or "INDEX" in line or "Seq" in line]
        short = [re.sub(r"'\{[^}]*\}'", "'{…}'", line.strip().removeprefix("->").strip()) for line in lines]
        used = list(dict.fromkeys(short))
        print(f"\n{kind}, {name}:\n  " + "\n  ".join(used))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--kinds", nargs="*", default=["postgresql", "sqlite"])
    parser.add_argument("--most", type=float, default=1.2, help="largest ratio that is fine")
    options = parser.parse_args()
    kept, slow = {}, []
    for kind in options.kinds:
        with tempfile.TemporaryDirectory() as folder:
            figures = asyncio.run(run(kind, options.jobs, options.rounds, Path(folder)))
        print()
        table(
            [f"{kind}, {options.jobs:,} jobs", "nearly empty ms", "grown ms", "ratio"],
            [
                [name, f"{1000 * small:.2f}", f"{1000 * large:.2f}", f"{large / small:.2f}"]
                for name, (small, large) in figures.items()
            ],
        )
        kept[kind] = {name: {"empty": small, "grown": large} for name, (small, large) in figures.items()}
        slow += [f"{kind}: {name}" for name, (small, large) in figures.items() if large / small > options.most]
    save("growth", {"jobs": options.jobs, **kept})
    print(f"over {options.most:g}: {', '.join(slow) or 'none'}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
