"""What came of a call can't be written, for whatever reason: it is told, and the job does not stay for ever."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fluxx.errors import Unavailable
from fluxx.extraction import finish
from fluxx.model.transitions import Transition
from fluxx.ports.jobs import JobStore
from fluxx.telemetry import OUTCOME_DROPPED, STEP_FAILED
from fluxx.wiring import World
from support.scripted import ScriptedExtractor
from support.service import House, house


class Picky:
    """A store that refuses to write what came of calls; ``all_of_it``, or only what went well."""

    def __init__(self, inner: JobStore, error: Exception, *, all_of_it: bool) -> None:
        self._inner = inner
        self._error = error
        self._all_of_it = all_of_it

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def apply(self, transition: Transition) -> bool:
        if self._all_of_it or transition.job.error_count == 0:
            raise self._error
        return await self._inner.apply(transition)


class Around:
    """Puts a picky store into a world."""

    def __init__(self, error: Exception, *, all_of_it: bool) -> None:
        self._error = error
        self._all_of_it = all_of_it

    def __call__(self, world: World) -> World:
        return replace(world, jobs=Picky(world.jobs, self._error, all_of_it=self._all_of_it))


async def uploaded(fluxx: House, extractor: ScriptedExtractor) -> Any:
    client = await fluxx.client_application()
    await fluxx.extractor(client, extractor.extraction_url)
    return await fluxx.upload(client)


async def test_a_job_whose_outcome_is_refused_fails_and_says_why(tmp_path: Path) -> None:
    around = Around(ValueError("too long for its column"), all_of_it=False)
    async with ScriptedExtractor() as extractor, house(tmp_path, around=around, max_submit_attempts=2) as fluxx:
        [job] = await fluxx.finished(await uploaded(fluxx, extractor))
        told = fluxx.heard.of(STEP_FAILED)
    assert (job["status"], len(told)) == ("Failed", 2)
    assert job["statusMessage"].startswith(finish.UNWRITABLE.reason)
    assert [each["error"] for each in told] == ["ValueError"] * 2


async def test_where_nothing_can_be_written_it_is_told_at_each_try(tmp_path: Path) -> None:
    around = Around(ValueError("no"), all_of_it=True)
    async with ScriptedExtractor() as extractor, house(tmp_path, around=around, lease_seconds=1) as fluxx:
        await uploaded(fluxx, extractor)
        told = await fluxx.heard.wait_for(STEP_FAILED, 4)  # the outcome and what stands for it, and both again
        assert len({each["job_id"] for each in told}) == 1


async def test_an_outcome_that_waited_too_long_for_the_database_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finish, "WRITE_PATIENCE", 0.02)
    monkeypatch.setattr(finish, "WRITE_REST", 0.01)
    around = Around(Unavailable("The database is away."), all_of_it=True)
    async with ScriptedExtractor() as extractor, house(tmp_path, around=around, lease_seconds=1) as fluxx:
        await uploaded(fluxx, extractor)
        told = await fluxx.heard.wait_for(OUTCOME_DROPPED, 2)
        assert str(told[0]["error"]) == "The database is away."
