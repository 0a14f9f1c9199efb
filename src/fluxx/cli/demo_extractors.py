"""Starts and ends the process that serves the demo's two extractors (``demo_child``)."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from fluxx.errors import Misconfigured

COMMAND: Final = (sys.executable, "-P", "-m", "fluxx.cli.demo_child")
"""-P keeps the current folder off the module path: files that lie there are data."""

START_SECONDS: Final = 60.0
END_SECONDS: Final = 10.0


class StartingExtractors:
    """Extractors that will answer in a moment; meanwhile the caller can do something else."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def url(self) -> str:
        """Return their base URL once they answer. Raises ``Misconfigured`` where they can't."""
        try:
            async with asyncio.timeout(START_SECONDS):
                said = (await self._process.stdout.readline()).decode().strip() if self._process.stdout else ""
        except TimeoutError:
            said = f"nothing was heard of them for {START_SECONDS:g} s"
        if not said.startswith("http"):
            raise Misconfigured(f"The demo's extractors did not start: {said or 'they ended at once'}")
        return said


@asynccontextmanager
async def extractors_beside(api_key: str) -> AsyncIterator[StartingExtractors]:
    """Run the extractors until the block is left; they ask for ``api_key``."""
    process = await asyncio.create_subprocess_exec(*COMMAND, stdin=PIPE, stdout=PIPE)
    try:
        if process.stdin is not None:
            process.stdin.write(api_key.encode() + b"\n")
        yield StartingExtractors(process)
    finally:
        await _end(process)


async def _end(process: Process) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(END_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
