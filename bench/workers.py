"""Many workers on one PostgreSQL: 2,000 jobs while, every second, a worker is killed or frozen beyond its lease.

Three ``fluxx worker`` and one ``fluxx serve`` for each API, processes of their own, with REGISTRATION_URL
and PUBLIC_URL between them. At the end every job must have one final state, one final event and a
readable result, and every submission its own job's id; else this fails.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

from databases import database
from report import save, table
from support.databases import make_tables
from support.fleet import EXTRACTORS, Fleet, Summary
from support.scripted import ScriptedExtractor

LEASE = 2.0
HURT_EVERY = 1.0
BOUND = 900.0

T = TypeVar("T")


async def while_hurt(fleet: Fleet, work: Awaitable[T]) -> T:
    """Hurt a worker every second until the work is done."""
    doing = asyncio.ensure_future(work)
    while not (await asyncio.wait([doing], timeout=HURT_EVERY))[0]:
        fleet.hurt_one()
    return await doing


async def run(url: str, home: Path, *, jobs: int, workers: int, seed: int) -> tuple[Summary, Fleet, float]:
    async with (
        ScriptedExtractor(not_ready=2) as extractor,
        Fleet(home, url, workers=workers, lease=LEASE, seed=seed) as fleet,
    ):
        began = time.monotonic()
        files = await while_hurt(fleet, fleet.given_files(jobs // len(EXTRACTORS), extractor))
        await while_hurt(fleet, fleet.finished(files, bound=BOUND))
        seconds = time.monotonic() - began
        await fleet.healed()
        return await fleet.summary(files, extractor, bound=BOUND), fleet, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, database("postgresql", Path(folder)) as base:
        make_tables(base.url)
        home = Path(folder) / "home"
        summary, fleet, seconds = asyncio.run(run(base.url, home, **vars(options)))
    figures = {
        "workers": options.workers,
        "seconds": round(seconds, 1),
        "killed": fleet.harm.kills,
        "frozen": fleet.harm.freezes,
        "jobs, each with one final state, one final event and a readable result": summary.jobs,
        "submissions": summary.submissions,
        "of them repeated, each with the same job id": summary.repeated,
        "late writes and lost claims dropped": summary.claims_lost,
    }
    table(["what", f"seed {options.seed}"], [[name, str(value)] for name, value in figures.items()])
    save("workers", figures)


if __name__ == "__main__":
    main()
