"""Puts jobs into the states that a test wants to look at, through the store, without a worker."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from uuid_utils.compat import uuid7

from fluxx.model import transitions
from fluxx.model.job import Extractor, Job, Status
from fluxx.model.outcome import Outcome
from fluxx.ports.jobs import Acceptance
from fluxx.wiring import World


async def placed_job(world: World, file_id: UUID, extractor: Extractor, outcomes: Sequence[Outcome] = ()) -> Job:
    """Queue a job for the file and let ``outcomes`` happen to it, one after the other."""
    now = world.clock.now()
    job = Job(
        job_id=uuid7(),
        file_id=file_id,
        client_application_id=extractor.client_application_id,
        client_application_extractor_id=extractor.client_application_extractor_id,
        status=Status.QUEUED,
        status_message=None,
        created_at=now,
        updated_at=now,
        deadline_at=now + timedelta(hours=1),
        due_at=now,
        idempotency_key=str(uuid7()),
    )
    accepted = await world.jobs.accept(Acceptance((transitions.queue(job),)))
    [job] = accepted.new
    return await happened(world, job, outcomes)


async def happened(world: World, job: Job, outcomes: Sequence[Outcome]) -> Job:
    """Let ``outcomes`` happen to the job; return its last row."""
    for outcome in outcomes:
        claimed = await world.jobs.seize(job.job_id, lease=60)
        transition = transitions.apply(claimed, outcome, now=world.clock.now(), limits=world.settings.limits)
        assert await world.jobs.apply(transition)
        job = transition.job
    return job
