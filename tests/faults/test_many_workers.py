"""Three workers and the APIs as processes, killed and frozen at seeded moments: each job ends once, explained.

``bench/workers.py`` (``make bench-workers``) does the same with 2,000 jobs and a worker hurt every second.
"""

import random
from contextlib import suppress
from pathlib import Path

import pytest

from fluxx.errors import Misconfigured
from support.databases import Databases
from support.fleet import EXTRACTORS, Fleet
from support.process import START_BOUND
from support.scripted import ScriptedExtractor
from support.service import house

FILES = 75
HARMS = 5


async def test_workers_killed_and_frozen_neither_lose_nor_double_a_job(databases: Databases, tmp_path: Path) -> None:
    chance = random.Random(3)
    with databases.postgresql() as url:
        async with (
            ScriptedExtractor(not_ready=2) as extractor,
            Fleet(tmp_path / "home", url, lease=1.0, seed=3) as fleet,
        ):
            files = await fleet.given_files(FILES, extractor)
            for _ in range(HARMS):
                wanted = len(extractor.requests) + chance.randint(10, 60)
                with suppress(TimeoutError):  # all jobs may be through already
                    await extractor.wait_for(lambda wanted=wanted: len(extractor.requests) >= wanted, timeout=2)
                fleet.hurt_one()
            await fleet.healed()
            summary = await fleet.summary(files, extractor, bound=2 * START_BOUND)
    assert summary.jobs == len(EXTRACTORS) * FILES
    assert fleet.harm.kills + fleet.harm.freezes >= 3


@pytest.mark.parametrize("roles", [{"worker"}, {"worker", "jobs", "registration"}])
async def test_a_worker_whose_file_urls_would_lead_nowhere_does_not_start(tmp_path: Path, roles: set[str]) -> None:
    with pytest.raises(Misconfigured, match="PUBLIC_URL"):
        async with house(tmp_path, roles=frozenset(roles)):
            pass
