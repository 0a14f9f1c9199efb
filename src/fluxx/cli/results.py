"""``fluxx result``: a job's result, byte for byte as the extractor sent it."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO
from uuid import UUID

import typer

from fluxx.cli.opening import with_world
from fluxx.cli.options import JobId

if TYPE_CHECKING:
    from fluxx.wiring import World

Output = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file, not stdout.")]


def show_result(job_id: JobId, to: Output = None) -> None:
    """Write a job's result, byte for byte, to stdout or a file."""
    with_world(lambda world: _copied(world, job_id, to))


async def _copied(world: "World", job_id: UUID, to: Path | None) -> None:
    from fluxx.errors import Conflict

    job = await world.reader.job(job_id)
    if job.extractor_response is None:
        raise Conflict(f"Job {job_id} is {job.status}: there is no result. {job.status_message or ''}")
    async with world.blobs.open(job.extractor_response) as opened:
        with _target(to) as target:
            async for chunk in opened.chunks:
                target.write(chunk)


@contextmanager
def _target(to: Path | None) -> Iterator[BinaryIO]:
    """Give stdout, or a file that appears under its name only when it is whole."""
    if to is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    unfinished = to.with_name(f".{to.name}.{os.getpid()}.part")
    try:
        with unfinished.open("xb") as file:
            yield file
        unfinished.replace(to)
    except OSError as error:
        error.filename, error.filename2 = to, None  # what was asked for: nobody knows the other name
        raise
    finally:
        with suppress(OSError):
            unfinished.unlink()
