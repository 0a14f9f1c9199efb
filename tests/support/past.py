"""The last hours of a busy service, made up through its stores while no worker runs: for pictures of its pages."""

import random
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from fluxx.adapters.sql.database import SqlDatabase
from fluxx.adapters.sql.engine import make_engine
from fluxx.model.job import Extractor
from fluxx.model.outcome import Extracted, NotReady, Outcome, Refused, Retry, Submitted
from fluxx.telemetry import Facts
from support.stores import JumpingClock, StoresWorld

LENGTH: Final = timedelta(hours=3)
BAD: Final = (timedelta(minutes=50), timedelta(minutes=66))
"""Between so long ago, most jobs failed."""

PACE: Final = 40.0
"""Seconds between two files, on average."""

ODDS: Final = 0.06
BUSY: Final = "The extractor could not take the job: HTTP 503 Service Unavailable."
FAILURES: Final = (
    "The extractor could not take the job: HTTP 503 Service Unavailable. Gave up after 5 attempts.",
    "No answer from the extractor: it took longer than 30 s. Gave up after 5 attempts.",
    "Extractor reported bad_scan: The page is too dark to be read.",
)
NAMES: Final = ("Invoice-2026-{:04}.pdf", "Delivery-{:04}.pdf", "Contract-{:04}.docx", "Statement-{:04}.xlsx")


async def make_past(home: Path, extractors: Sequence[Extractor], chance: random.Random) -> None:
    """Write the files and jobs of the last hours into the database in ``home``, for these extractors."""
    engine, clock = make_engine(f"sqlite:///{home / 'fluxx.db'}"), JumpingClock()
    clock.ahead = -LENGTH
    async with SqlDatabase(engine, clock=clock, facts=Facts()) as database:
        world = StoresWorld(str(engine.url), engine, database, clock)
        number = 0
        while (ago := -clock.ahead) > timedelta(minutes=1):
            number += 1
            odds = 0.7 if BAD[0] < ago < BAD[1] else ODDS
            await _file(world, chance.choice(extractors), chance.choice(NAMES).format(number), odds, chance)
            clock.ahead = -ago
            clock.jump(chance.expovariate(1 / PACE))


async def _file(world: StoresWorld, extractor: Extractor, name: str, odds: float, chance: random.Random) -> None:
    file = replace(world.new_file(extractor), file_name=name, size=chance.randint(20_000, 900_000))
    await world.files.add_file(file)
    [job] = await world.accepted(world.new_job(file, extractor))
    for outcome in _life(odds, chance):
        world.clock.jump(chance.uniform(0.3, 2.5))
        job = await world.happened(job, outcome)


def _life(odds: float, chance: random.Random) -> Iterator[Outcome]:
    if chance.random() < ODDS:
        yield Retry(BUSY)
    yield Submitted("Submitted: HTTP 201 Created.")
    for _ in range(chance.randint(0, 3)):
        yield NotReady()
    failed = chance.random() < odds
    yield Refused(chance.choice(FAILURES)) if failed else Extracted("results/made-up/result.json", 4096, "0" * 64)
