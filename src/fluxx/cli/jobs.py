"""``fluxx jobs``: what became of a file, and what an operator can do about it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal
from uuid import UUID

import typer

from fluxx.cli import output
from fluxx.cli.exits import FAILED
from fluxx.cli.grouping import group
from fluxx.cli.intervening import cancel_jobs, retry_jobs
from fluxx.cli.opening import with_world
from fluxx.cli.options import AnyClientApplicationId, AsJson, JobId, JobIds
from fluxx.cli.tables import Column, Room

if TYPE_CHECKING:
    from datetime import datetime

    from fluxx.cli.watching import Seen
    from fluxx.ports.jobs import JobFilter
    from fluxx.wiring import World

jobs: Final = group("Look at jobs, follow them, cancel them, run them again.")

COLUMNS: Final = (
    Column("JOB", Room.WHOLE),
    Column("FILE", Room.NAME),
    Column("EXTRACTOR", Room.NAME),
    Column("STATUS", Room.WHOLE),
    Column("AGE", Room.WHOLE, right=True),
)
HISTORY: Final = (
    Column("TIME (UTC)", Room.WHOLE),
    Column("STATUS", Room.WHOLE),
    Column("ATTEMPT", Room.WHOLE, right=True),
    Column("MESSAGE", Room.LOOSE),
)

StatusName = Literal["Queued", "Started", "Succeeded", "Failed"]
Status = Annotated[StatusName | None, typer.Option("--status", case_sensitive=False, help="Only jobs in this state.")]
Extractor = Annotated[UUID | None, typer.Option("--extractor", metavar="ID", help="Only those of this extractor.")]
File = Annotated[UUID | None, typer.Option("--file", metavar="ID", help="Only those of this file.")]
Limit = Annotated[
    int, typer.Option("--limit", metavar="N", min=1, max=1000, help="Show at most this many, the newest.")
]


@jobs.command("list")
def list_jobs(
    status: Status = None,
    client_application: AnyClientApplicationId = None,
    extractor: Extractor = None,
    file: File = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List jobs, newest first."""
    from fluxx.cli.job_json import job_json
    from fluxx.model import job
    from fluxx.ports.jobs import JobFilter

    wanted = JobFilter(
        status=job.Status(status) if status else None,
        client_application_id=client_application,
        client_application_extractor_id=extractor,
        file_id=file,
    )
    found = with_world(lambda world: _listed(world, wanted, limit))
    if as_json:
        output.json_line([job_json(each) for each in found])
    else:
        output.listing(COLUMNS, [_row(each) for each in found], empty="No such jobs.")


@jobs.command("show")
def show_job(job_id: JobId, as_json: AsJson = False) -> None:
    """Show one job with its history."""
    from fluxx.cli.job_json import job_json

    seen, due_at = with_world(lambda world: _one(world, job_id))
    if as_json:
        output.json_line(job_json(seen))
        return
    output.fields(_facts_of(seen, due_at))
    output.line("")
    rows = [
        (output.moment(each.timestamp), each.status, str(each.attempt_number), each.message or "")
        for each in seen.history
    ]
    output.listing(HISTORY, rows, empty="No history.")


@jobs.command("watch")
def watch_jobs(job_ids: JobIds) -> None:
    """Follow jobs until all are final.

    Exit status 1 where one failed.
    """
    from fluxx.model.job import Status as State

    seen = with_world(lambda world: _watched(world, job_ids))
    for each in seen:
        output.line(f"{each.job.job_id}  {each.job.status}  {output.printable(each.job.status_message or '')}")
    if any(each.job.status is State.FAILED for each in seen):
        raise typer.Exit(FAILED)


jobs.command("cancel")(cancel_jobs)
jobs.command("retry")(retry_jobs)


async def _listed(world: "World", wanted: "JobFilter", limit: int) -> Sequence["Seen"]:
    from fluxx.cli.watching import look

    return await look(world, await world.reader.jobs(wanted, limit=limit))


async def _one(world: "World", job_id: UUID) -> "tuple[Seen, datetime | None]":
    from fluxx.cli.watching import look
    from fluxx.model.keeping import begins_at

    [seen] = await look(world, [await world.reader.job(job_id)])
    return seen, begins_at(seen.job, world.settings.limits)


async def _watched(world: "World", job_ids: Sequence[UUID]) -> Sequence["Seen"]:
    from fluxx.cli.displays import display
    from fluxx.cli.watching import by_ids, follow

    with display(world.clock) as shown:
        return await follow(world, by_ids(world, job_ids), expected=len(job_ids), display=shown)


def _row(seen: "Seen") -> tuple[str, ...]:
    from fluxx.clock import SystemClock

    job = seen.job
    age = output.age(SystemClock().now() - job.created_at)
    return str(job.job_id), seen.file_name, seen.extractor_name, job.status, age


def _facts_of(seen: "Seen", due_at: "datetime | None") -> list[tuple[str, str]]:
    job = seen.job
    due = {} if due_at is None else {"due (UTC)": output.moment(due_at)}
    result = (
        {}
        if job.extractor_response is None
        else {
            "result": job.extractor_response,
            "size": f"{job.result_size} bytes",
            "sha256": job.result_sha256 or "",
        }
    )
    shown = {
        "job": str(job.job_id),
        "status": job.status,
        "message": job.status_message or "",
        "file": f"{job.file_id}  {seen.file_name}",
        "extractor": f"{job.client_application_extractor_id}  {seen.extractor_name}",
        "client application": str(job.client_application_id),
        "polls": str(job.poll_attempt_count),
        "created (UTC)": output.moment(job.created_at),
        "updated (UTC)": output.moment(job.updated_at),
        "completed (UTC)": output.moment(job.completed_at),
        "deadline (UTC)": output.moment(job.deadline_at),
    }
    return [*(shown | due | result).items()]
