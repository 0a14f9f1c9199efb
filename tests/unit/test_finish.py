"""What a worker keeps, it keeps under a claim that was nobody's before."""

import random
from typing import cast
from uuid import uuid4

from fluxx.clock import SystemClock
from fluxx.extraction.finish import Finish, Steps
from fluxx.model.deadlines import Limits
from fluxx.model.job import Job, Status
from fluxx.model.outcome import NotReady, Outcome
from fluxx.model.transitions import Transition
from fluxx.ports.jobs import JobStore
from fluxx.telemetry import Facts
from support.jobs import a_job

clock = SystemClock()


class Store:
    """Writes whatever it is given."""

    async def apply(self, _: Transition) -> bool:
        return True


async def not_ready(_: Job) -> Outcome:
    return NotReady()


async def no_secrets(_: Job) -> list[str]:
    return []


async def test_each_job_is_kept_under_a_claim_of_its_own_from_poll_to_poll() -> None:
    finish = Finish(
        steps=Steps(submit=not_ready, poll=not_ready, secrets_of=no_secrets),
        store=cast("JobStore", Store()),
        limits=Limits(poll_backoff_factor=1.0),
        clock=clock,
        facts=Facts(),
        chance=random.Random(1),
        announce=lambda: None,
    )
    jobs: list[Job | None] = [a_job(clock.now(), status=Status.STARTED, claim_token=uuid4()) for _ in range(3)]
    tokens = [job.claim_token for job in jobs if job is not None]
    for _ in range(4):
        jobs = [await finish(job) for job in jobs if job is not None]
        tokens += [job.claim_token for job in jobs if job is not None]
    assert None not in tokens
    assert len(set(tokens)) == len(tokens) == 15
