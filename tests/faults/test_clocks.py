"""The clock that counts is the database's: workers on machines whose clocks differ agree, and say that they differ."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fluxx import settings as settings_module
from fluxx import wiring
from fluxx.telemetry import CLOCK_OFF, Facts
from fluxx.wiring import World
from support.databases import Databases
from support.facts import FactsHeard
from support.scripted import ScriptedExtractor
from support.service import house
from support.stores import LEASE, JumpingClock, opened_stores

A_MOMENT = timedelta(seconds=30)
"""How long this machine may take over something at most."""


class Wrong(JumpingClock):
    """A machine's clock that is wrong by so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.jump(seconds)


@pytest.mark.parametrize("seconds", [-7200.0, 7200.0])
async def test_a_wrong_clock_is_told_and_corrected(databases: Databases, tmp_path: Path, seconds: float) -> None:
    with databases.postgresql() as url:
        async with (
            ScriptedExtractor() as extractor,
            house(tmp_path, database_url=url, clock=Wrong(seconds)) as fluxx,
        ):
            [told, *_] = await fluxx.heard.wait_for(CLOCK_OFF)
            assert abs(told["seconds"] + seconds) < 1
            client = await fluxx.client_application()
            await fluxx.extractor(client, extractor.extraction_url)
            [job] = await fluxx.finished(await fluxx.upload(client))
            assert job["status"] == "Succeeded"
            for moment in (job["createdAt"], job["completedAt"], *(line["timestamp"] for line in job["history"])):
                assert abs(datetime.now(UTC) - datetime.fromisoformat(moment)) < A_MOMENT


@asynccontextmanager
async def connected(url: str, home: Path, clock: JumpingClock) -> AsyncIterator[World]:
    """Open the world as a worker's process on another machine would."""
    settings = settings_module.load(fluxx_home=home, database_url=url)
    async with wiring.connect(settings, facts=Facts(), clock=clock, chance=random.Random(1)) as world:
        yield world


async def test_a_lease_lasts_as_long_for_a_worker_whose_clock_is_ahead(databases: Databases, tmp_path: Path) -> None:
    with databases.postgresql() as url:
        async with opened_stores(url) as stores:
            [job] = await stores.queued(1)
        async with (
            connected(url, tmp_path / "behind", Wrong(-600)) as behind,
            connected(url, tmp_path / "ahead", Wrong(600)) as ahead,
        ):
            due = await behind.jobs.claim(lease=LEASE, limit=10)
            assert [one.job_id for one in due.jobs] == [job.job_id]
            assert (await ahead.jobs.claim(lease=LEASE, limit=10)).jobs == []


async def test_a_clock_that_goes_wrong_later_is_corrected_too(databases: Databases, tmp_path: Path) -> None:
    clock, facts = Wrong(0), Facts()
    heard = FactsHeard(facts)
    with databases.postgresql() as url:
        settings = settings_module.load(fluxx_home=tmp_path, database_url=url)
        async with wiring.connect(settings, facts=facts, clock=clock, chance=random.Random(1)) as world:
            keeping = wiring.timekeeping(world)
            assert await keeping.step() > 0
            assert heard.of(CLOCK_OFF) == []
            for _ in range(2):
                clock.jump(90)
                await keeping.step()
                assert abs(world.clock.now() - datetime.now(UTC)) < A_MOMENT
            assert [round(told["seconds"]) for told in heard.of(CLOCK_OFF)] == [-90, -180]


async def test_a_file_has_no_clock_but_this_machines(tmp_path: Path) -> None:
    async with house(tmp_path, clock=Wrong(7200)) as fluxx:
        assert fluxx.world.clock.offset == timedelta()
        assert fluxx.heard.of(CLOCK_OFF) == []
