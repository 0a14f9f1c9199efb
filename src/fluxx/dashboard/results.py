"""Reads stored results for showing, in bounds."""

from typing import Any

import msgspec

from fluxx.dashboard.tree import LARGEST, read
from fluxx.errors import NotFound
from fluxx.model.job import Job
from fluxx.ports.blobs import Blobs


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A result as it can be shown: its ``value``, or in ``trouble`` why it can't be."""

    value: Any = None
    trouble: str | None = None


async def result_of(job: Job, blobs: Blobs) -> Result | None:
    """Return a job's result; None where it has none."""
    if job.extractor_response is None:
        return None
    if (job.result_size or 0) > LARGEST:
        return Result(trouble="It is too large to be shown here; download it.")
    try:
        async with blobs.open(job.extractor_response) as opened:
            body = b"".join([chunk async for chunk in opened.chunks])
        return Result(value=read(body))
    except NotFound:
        return Result(trouble="Its blob is gone from the storage.")
    except ValueError as error:
        return Result(trouble=f"It is no JSON that can be shown: {error}.")
