"""Follows jobs until they are final, by reading what everybody else can read.

``fluxx submit --wait``, ``fluxx jobs watch`` and ``fluxx demo`` look at it through a ``Display``.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol
from uuid import UUID

import msgspec

from fluxx.model.job import Job, JobStatus

if TYPE_CHECKING:
    from fluxx.wiring import World

LOOK_EVERY: Final = 0.2
"""Seconds between two looks at the jobs."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A job as a person knows it: with the names of its file and extractor, and its history so far."""

    job: Job
    file_name: str
    extractor_name: str
    history: Sequence[JobStatus]


class Display(Protocol):
    """Shows what is seen at each look."""

    def update(self, seen: Sequence[Seen]) -> None:
        """Show the jobs as they are now."""
        ...


Find = Callable[[], Awaitable[Sequence[Job]]]
"""Returns the jobs to look at, as they are now."""


async def follow(world: "World", find: Find, *, expected: int, display: Display) -> Sequence[Seen]:
    """Look until there are ``expected`` jobs and all are final; return the last look."""
    while True:
        seen = await look(world, await find())
        display.update(seen)
        if len(seen) >= expected and all(each.job.status.is_final for each in seen):
            return seen
        await asyncio.sleep(LOOK_EVERY)


async def look(world: "World", jobs: Sequence[Job]) -> Sequence[Seen]:
    """Return the jobs with their histories and the names of what they are about."""
    histories = await world.reader.histories([job.job_id for job in jobs])
    files = await world.files.files(list({job.file_id for job in jobs}))
    extractors = {each.client_application_extractor_id: each.name for each in await world.registrations.extractors()}
    return [
        Seen(
            job=job,
            file_name=files[job.file_id].file_name if job.file_id in files else str(job.file_id),
            extractor_name=extractors.get(
                job.client_application_extractor_id, str(job.client_application_extractor_id)
            ),
            history=histories[job.job_id],
        )
        for job in jobs
    ]


def by_ids(world: "World", job_ids: Sequence[UUID]) -> Find:
    """Look at these jobs. The first look raises ``NotFound`` where one doesn't exist."""

    async def find() -> Sequence[Job]:
        return [await world.reader.job(job_id) for job_id in job_ids]

    return find
