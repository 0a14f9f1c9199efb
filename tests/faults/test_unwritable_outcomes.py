"""What came of a call can't be written, for whatever reason: it is told, and the job does not stay for ever."""

import random
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from msgspec.structs import replace

from fluxx.clock import SystemClock
from fluxx.errors import Unavailable
from fluxx.extraction import finish
from fluxx.model.deadlines import Limits
from fluxx.model.job import Job
from fluxx.model.outcome import Outcome, Submitted
from fluxx.model.transitions import Transition
from fluxx.ports.jobs import JobStore
from fluxx.telemetry import OUTCOME_DROPPED, STEP_FAILED, Facts
from fluxx.wiring import World
from simulation.virtual_loop import VirtualLoop
from support.facts import FactsHeard
from support.jobs import a_job
from support.scripted import ScriptedExtractor
from support.service import House, house

NO_STORE = cast("JobStore", None)


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


def test_an_outcome_that_waited_too_long_for_the_database_is_told() -> None:
    loop = VirtualLoop()
    facts = Facts()
    heard = FactsHeard(facts)
    clock = SystemClock()
    away = Unavailable("The database is away.")

    async def step(_: Job) -> Outcome:
        return Submitted("ok")

    async def no_secrets(_: Job) -> list[str]:
        return []

    finishing = finish.Finish(
        steps=finish.Steps(submit=step, poll=step, secrets_of=no_secrets),
        store=cast("JobStore", Picky(NO_STORE, away, all_of_it=True)),
        limits=Limits(),
        clock=clock,
        facts=facts,
        chance=random.Random(1),
        announce=lambda: None,
    )
    job = a_job(clock.now(), claim_token=uuid4())
    assert loop.run_until_complete(finishing(job)) is None
    assert heard.of(OUTCOME_DROPPED) == [{"job_id": job.job_id, "error": away}]
    assert loop.time() >= finish.WRITE_PATIENCE - finish.WRITE_REST
