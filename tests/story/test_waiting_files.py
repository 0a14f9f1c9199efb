"""A file that nobody turns into jobs is told of: on the page, by metrics, and to whoever waits at a terminal."""

from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import pytest
from msgspec.structs import replace

from fluxx.cli import submit
from fluxx.errors import Unavailable
from fluxx.model.job import ActiveExtractor
from fluxx.ports.registrations import Registry
from fluxx.roles import ALL_ROLES
from fluxx.telemetry import MESSAGE_ABANDONED
from fluxx.wiring import World
from support.eventually import eventually
from support.facts import BOUND
from support.service import House, house
from support.stores import JumpingClock

SECONDS = 35


class Leaving:
    """A registry that answers whoever hands in a file, and then goes away."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._asked = 0

    async def active_extractors(self, client_application_id: UUID) -> Sequence[ActiveExtractor]:
        self._asked += 1
        if self._asked > 1:
            raise Unavailable("The registry is away.")
        return await self._registry.active_extractors(client_application_id)


def without_registry(world: World) -> World:
    return replace(world, registry=Leaving(world.registry))


async def uploaded(fluxx: House) -> UUID:
    """Hand in a file for an extractor."""
    client = await fluxx.client_application()
    await fluxx.extractor(client, "https://ocr.example.com/extract")
    return await fluxx.upload(client)


async def told(fluxx: House) -> tuple[str, dict[str, float]]:
    """Return the overview and the metrics without labels."""
    page, metrics = [(await fluxx.http.get(path)).text for path in ("/dashboard", "/metrics")]
    lines = [line.split(" ") for line in metrics.splitlines() if line.startswith("fluxx_") and "{" not in line]
    return page, {name: float(value) for name, value in lines}


async def hinted(fluxx: House, file_id: UUID) -> None:
    """Look for the file's jobs as ``fluxx submit --wait`` does."""
    assert await submit.jobs_of(fluxx.world, [await fluxx.world.files.file(file_id)])() == []


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submit, "PATIENCE", -1.0)


async def test_without_a_worker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clock = JumpingClock()
    async with house(tmp_path, roles=ALL_ROLES - {"worker"}, clock=clock) as fluxx:
        file_id = await uploaded(fluxx)
        clock.jump(SECONDS)
        page, metrics = await told(fluxx)
        await hinted(fluxx, file_id)
    assert f"No worker is there, and work has waited {SECONDS} s for one." in page
    assert metrics["fluxx_workers"] == 0
    assert SECONDS <= metrics["fluxx_oldest_file_seconds"] < SECONDS + BOUND
    assert "no worker is there" in capsys.readouterr().err


async def test_with_a_worker_that_cannot_ask_the_registry(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clock = JumpingClock()
    async with house(tmp_path, clock=clock, around=without_registry) as fluxx:
        await eventually(fluxx.world.presence.workers, bound=BOUND)
        file_id = await uploaded(fluxx)
        await fluxx.heard.wait_for(MESSAGE_ABANDONED)
        clock.jump(SECONDS)
        page, metrics = await told(fluxx)
        await hinted(fluxx, file_id)
    assert f"An uploaded file has waited {SECONDS} s to be turned into jobs." in page
    assert metrics["fluxx_workers"] == 1
    assert SECONDS <= metrics["fluxx_oldest_file_seconds"] < SECONDS + BOUND
    assert "though a worker is there" in capsys.readouterr().err


async def test_a_file_of_a_client_application_without_extractors_is_no_trouble(tmp_path: Path) -> None:
    clock = JumpingClock()
    async with house(tmp_path, clock=clock) as fluxx:
        file_id = await fluxx.upload(await fluxx.client_application())

        async def dealt_with() -> bool:
            return (await fluxx.world.observer.backlog()).oldest_file_at is None

        await eventually(dealt_with, bound=BOUND)
        clock.jump(SECONDS)
        page, metrics = await told(fluxx)
        assert await fluxx.jobs_of(file_id) == []
    assert "Nothing. Files become jobs" in page
    assert metrics["fluxx_oldest_file_seconds"] == 0
