"""``fluxx submit``: hands in files through the same code as ``POST /files``."""

import mimetypes
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final
from uuid import UUID

import typer

from fluxx.cli import output
from fluxx.cli.exits import FAILED
from fluxx.cli.opening import with_world
from fluxx.cli.options import AsJson

if TYPE_CHECKING:
    from fluxx.cli.watching import Find, Seen
    from fluxx.model.job import File, Job
    from fluxx.wiring import World

CHUNK: Final = 256 * 1024
MOST_JOBS_OF_A_FILE: Final = 1000
PATIENCE: Final = 5.0
"""Seconds without a job until ``--wait`` asks whether anybody works at all."""

Files = Annotated[
    list[Path], typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True, help="Files to hand in.")
]
For = Annotated[
    UUID, typer.Option("--client-application", metavar="ID", help="Id of the client application that hands them in.")
]
Wait = Annotated[bool, typer.Option("--wait", help="Follow the jobs until all are final; exit status 1 if one failed.")]


def submit(files: Files, client_application: For, wait: Wait = False, as_json: AsJson = False) -> None:
    """Hand in files and print their ids, or wait for their results."""
    with_world(lambda world: _submitted(world, files, client_application, wait=wait, as_json=as_json))


async def upload(world: "World", path: Path, client_application_id: UUID) -> "File":
    """Hand in one file under its own name, read piece by piece."""
    from fluxx import wiring

    return await wiring.uploading(world).upload(
        client_application_id=client_application_id,
        file_name=path.name,
        content_type=mimetypes.guess_type(path.name)[0] or "application/octet-stream",
        content=_pieces(path),
    )


async def _submitted(
    world: "World", paths: Sequence[Path], client_application_id: UUID, *, wait: bool, as_json: bool
) -> None:
    extractors = await world.registry.active_extractors(client_application_id)
    files = []
    for path in paths:
        files.append(await upload(world, path, client_application_id))
        if not as_json:
            output.line(str(files[-1].file_id))
    if not extractors:
        output.hint("No extractor is active for this client application, so there will be no jobs.")
    seen = await _followed(world, files, len(files) * len(extractors), quiet=as_json) if wait else []
    if as_json:
        _print_json(files, seen)
    if any(each.job.status == "Failed" for each in seen):
        raise typer.Exit(FAILED)


async def _followed(world: "World", files: Sequence["File"], expected: int, *, quiet: bool) -> Sequence["Seen"]:
    from contextlib import nullcontext

    from fluxx.cli.displays import NoDisplay, display
    from fluxx.cli.watching import follow

    with nullcontext(NoDisplay()) if quiet else display(world.clock) as shown:
        return await follow(world, jobs_of(world, files), expected=expected, display=shown)


def jobs_of(world: "World", files: Sequence["File"]) -> "Find":
    """Look at all jobs of these files, oldest first; where none comes, say once what may be missing."""
    from time import monotonic

    from fluxx.ports.jobs import JobFilter

    doubtful_at = monotonic() + PATIENCE

    async def find() -> Sequence["Job"]:
        nonlocal doubtful_at
        found = [
            job
            for file in files
            for job in reversed(await world.reader.jobs(JobFilter(file_id=file.file_id), limit=MOST_JOBS_OF_A_FILE))
        ]
        if not found and monotonic() > doubtful_at:
            doubtful_at = float("inf")
            output.hint(await _doubt(world))
        return found

    return find


async def _doubt(world: "World") -> str:
    if await world.presence.workers():
        return "No job yet, though a worker is there: its log says why, and 'fluxx top' what is wrong."
    return "No job yet, and no worker is there: start 'fluxx up' or 'fluxx worker'."


def _print_json(files: Sequence["File"], seen: Sequence["Seen"]) -> None:
    from fluxx.cli.job_json import job_json

    for file in files:
        output.json_line(
            {
                "fileId": file.file_id,
                "fileName": file.file_name,
                "size": file.size,
                "jobs": [job_json(each) for each in seen if each.job.file_id == file.file_id],
            }
        )


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    import asyncio

    with path.open("rb") as file:
        while piece := await asyncio.to_thread(file.read, CHUNK):
            yield piece
