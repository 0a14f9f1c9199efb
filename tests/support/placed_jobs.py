"""Puts jobs into the states that a test wants to look at, through the store, without a worker."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from uuid_utils.compat import uuid7

from fluxx import settings, wiring
from fluxx.clock import SystemClock
from fluxx.model import transitions
from fluxx.model.job import Extractor, Job, Status
from fluxx.model.outcome import Outcome
from fluxx.ports.jobs import Acceptance
from fluxx.telemetry import Facts
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
    accepted = await world.jobs.accept(Acceptance(job.file_id, (transitions.queue(job),)))
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


def placed_in(home: Path, *fates: Sequence[Outcome], name: str = "invoice.pdf", extractor: str = "ocr") -> list[str]:
    """Put a job for each fate into the embedded database in ``home``, before anything runs; return their ids."""
    return asyncio.run(_placed_in(home, fates, name, extractor))


async def _placed_in(home: Path, fates: Sequence[Sequence[Outcome]], name: str, extractor: str) -> list[str]:
    async with wiring.connect(
        settings.load(fluxx_home=home), facts=Facts(), clock=SystemClock(), chance=random.Random(1)
    ) as world:
        registering = wiring.registering(world)
        client = (await registering.register_client_application("Invoices")).client_application_id
        added = await registering.register_extractor(client, name=extractor, extraction_url="https://ocr.example/jobs")
        file = await wiring.uploading(world).upload(
            client_application_id=client, file_name=name, content_type="application/pdf", content=_content()
        )
        return [str((await placed_job(world, file.file_id, added, fate)).job_id) for fate in fates]


async def _content() -> AsyncIterator[bytes]:
    yield b"%PDF-1.7 made up"
