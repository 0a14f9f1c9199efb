"""A long time is read in two parts, and still every job in it is counted once."""

from collections.abc import AsyncIterator

import pytest

from fluxx.dashboard.glance import Glance
from fluxx.model.counts import total
from fluxx.model.outcome import Extracted
from support.stores import StoresWorld, opened_stores

RESULT = Extracted("results/made-up/result.json", 1, "0" * 64)
BEFORE = (26 * 3600, 5 * 3600, 300, 200, 170, 100, 0)
"""Seconds ago: about where the parts meet, and one too long ago."""


@pytest.fixture
async def world(database_url: str) -> AsyncIterator[StoresWorld]:
    async with opened_stores(database_url) as opened:
        yield opened


async def test_every_job_of_a_day_is_counted_once(world: StoresWorld) -> None:
    extractor = await world.extractor()
    for seconds in BEFORE:
        world.clock.jump(BEFORE[0] - seconds - world.clock.ahead.total_seconds())
        [job] = await world.queued(1, extractor)
        await world.happened(job, RESULT)
    glance = Glance(world.observer, world.clock)
    for _ in range(2):
        assert total([*(await glance.last(24 * 60)).values()]).succeeded == len(BEFORE) - 1
        assert sum(minute.succeeded for minute in await glance.minutes(24)) == len(BEFORE) - 1
        assert sum(minute.succeeded for minute in await glance.minutes(1)) == len(BEFORE) - 2
    each = await glance.last_hour_of_each()
    assert sum(minute.succeeded for minute in each[extractor.client_application_extractor_id]) == len(BEFORE) - 2
