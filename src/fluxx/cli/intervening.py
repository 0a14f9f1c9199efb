"""``fluxx jobs cancel`` and ``fluxx jobs retry``: each job is tried, whatever becomes of the others."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from fluxx.cli import output
from fluxx.cli.exits import FAILED, SENSELESS, ending, say
from fluxx.cli.opening import with_world
from fluxx.cli.options import AsJson, JobIds

if TYPE_CHECKING:
    from fluxx.extraction.intervention import Intervention
    from fluxx.model.job import Job
    from fluxx.wiring import World

    Act = Callable[[Intervention, UUID], Awaitable[Job]]

Reason = Annotated[str | None, typer.Option("--reason", help="Why; the jobs' status message tells it.")]


def cancel_jobs(job_ids: JobIds, reason: Reason = None, as_json: AsJson = False) -> None:
    """Fail jobs that aren't final; work under way is dropped.

    All are tried; exit status 1 where one was refused.
    """
    with_world(
        lambda world: _each(
            world,
            job_ids,
            lambda intervention, job_id: intervention.cancel(job_id, reason=reason),
            as_json=as_json,
            quiet=True,
        )
    )


def retry_jobs(job_ids: JobIds, as_json: AsJson = False) -> None:
    """Run final jobs again and print the new jobs' ids.

    Each is a new job for the same file and extractor; asked twice, it is the same new job.
    All are tried; exit status 1 where one was refused.
    """
    with_world(
        lambda world: _each(
            world, job_ids, lambda intervention, job_id: intervention.retry(job_id), as_json=as_json, quiet=False
        )
    )


async def _each(world: "World", job_ids: Sequence[UUID], act: "Act", *, as_json: bool, quiet: bool) -> None:
    """Do it to each job and print the jobs that it made or changed, as JSON or, unless ``quiet``, by id.

    What was refused is one line each on stderr. Where nothing was done and no job exists, that is the status.
    """
    from fluxx import wiring
    from fluxx.errors import Conflict, NotFound

    statuses = set()
    for job_id in job_ids:
        try:
            job = await act(wiring.intervention(world), job_id)
        except (Conflict, NotFound) as refusal:
            statuses.add(_refused(refusal))
            continue
        statuses.add(0)
        if as_json:
            await _print_json(world, job.job_id)
        elif not quiet:
            output.line(str(job.job_id))
    if statuses != {0}:
        raise typer.Exit(SENSELESS if statuses == {SENSELESS} else FAILED)


def _refused(refusal: Exception) -> int:
    """Say why on stderr and return the exit status of its kind."""
    said, status = ending(refusal) or (str(refusal), FAILED)
    say(said)
    return status


async def _print_json(world: "World", job_id: UUID) -> None:
    from fluxx.cli.job_json import job_json
    from fluxx.cli.watching import look

    (seen,) = await look(world, [await world.reader.job(job_id)])
    output.json_line(job_json(seen))
