"""What is left of another time: jobs that ended long ago, to be forgotten by and by."""

from collections.abc import Callable
from uuid import UUID

import msgspec

from fluxx.model import transitions
from fluxx.model.deadlines import deadline_of
from fluxx.model.job import File, Job, Status
from fluxx.model.outcome import Extracted
from fluxx.ports.jobs import Acceptance
from fluxx.wiring import World


class Relic(msgspec.Struct, frozen=True):
    """A job that ended long ago, with its file and its blobs."""

    job: Job
    file: File


async def leave_relic(past: World, client: UUID, extractor_id: UUID, new_id: Callable[[], UUID]) -> Relic:
    """Let a job of this client and extractor have succeeded in the ``past``."""
    file = await _file(past, client, new_id())
    now = past.clock.now()
    job = Job(
        job_id=new_id(),
        file_id=file.file_id,
        client_application_id=client,
        client_application_extractor_id=extractor_id,
        status=Status.QUEUED,
        status_message=None,
        created_at=now,
        updated_at=now,
        deadline_at=deadline_of(now, past.settings.limits),
        due_at=now,
        idempotency_key="accepted",
    )
    await past.jobs.accept(Acceptance(job.file_id, (transitions.queue(job),)))
    stored = await past.blobs.write(job.result_path, b"{}", content_type="application/json")
    result = Extracted(job.result_path, stored.size, stored.sha256)
    held = await past.jobs.seize(job.job_id, lease=60.0)
    ended = transitions.apply(held, result, now=now, limits=past.settings.limits)
    assert await past.jobs.apply(ended)
    return Relic(ended.job, file)


async def _file(past: World, client: UUID, file_id: UUID) -> File:
    path = f"files/{client}/{file_id}/content"
    await past.blobs.write(path, b"old", content_type="text/plain")
    file = File(
        file_id=file_id,
        client_application_id=client,
        file_name="old.txt",
        content_type="text/plain",
        size=3,
        sha256=None,
        blob_path=path,
        is_remote=False,
        created_at=past.clock.now(),
    )
    await past.files.add_file(file)
    return file
