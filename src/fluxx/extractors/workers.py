"""A few worker processes that extract, so that a heavy or harmful file never stalls or stops the server.

Used by ``jobs.py``. Each file has a time limit; a worker that crashes or overruns takes one job with
it and is replaced. These are plain child processes with a pipe, and not a ``ProcessPoolExecutor``:
that one can't stop a file that takes too long, and loses every pending job when one process dies.
"""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from typing import Final

import msgspec

from fluxx.extractors.contract import CannotExtract
from fluxx.extractors.task import Done, Task
from fluxx.telemetry import EXTRACTION_WORKER_STARTED, Facts

COMMAND: Final = (sys.executable, "-P", "-m", "fluxx.extractors.worker")
"""-P keeps the current folder off the module path: files that lie there are data."""


class Workers:
    """At most ``size`` processes, started when first needed; ``time_limit`` is in seconds a file."""

    def __init__(self, *, size: int, time_limit: float, facts: Facts) -> None:
        self._time_limit = time_limit
        self._facts = facts
        self._slots = asyncio.Semaphore(size)
        self._idle: list[Process] = []

    async def run(self, task: Task) -> Done:
        """Have the task performed; raise ``CannotExtract`` where its process crashed or ran out of time."""
        async with self._slots:
            process = self._take_idle() or await self._start()
            try:
                done = await self._ask(process, task)
            except BaseException:
                await _end(process)
                raise
            self._idle.append(process)
            return done

    async def close(self) -> None:
        """End the idle processes; those at work end with the tasks that wait for them."""
        while self._idle:
            await _end(self._idle.pop())

    def _take_idle(self) -> Process | None:
        while self._idle:
            process = self._idle.pop()
            if process.returncode is None:
                return process
        return None

    async def _start(self) -> Process:
        process = await asyncio.create_subprocess_exec(*COMMAND, stdin=PIPE, stdout=PIPE)
        self._facts.tell(EXTRACTION_WORKER_STARTED, pid=process.pid)
        return process

    async def _ask(self, process: Process, task: Task) -> Done:
        try:
            async with asyncio.timeout(self._time_limit):
                line = await _exchange(process, msgspec.json.encode(task) + b"\n")
        except TimeoutError:
            reason = f"The extraction took longer than {self._time_limit:g} s and was stopped."
            raise CannotExtract("time_limit", reason) from None
        if not line.endswith(b"\n"):
            raise CannotExtract("crashed", f"The extraction process died over this file ({await _cause(process)}).")
        return msgspec.json.decode(line, type=Done)


async def _exchange(process: Process, line: bytes) -> bytes:
    if process.stdin is None or process.stdout is None:
        return b""
    try:
        process.stdin.write(line)
        await process.stdin.drain()
        return await process.stdout.readline()
    except ConnectionError:
        return b""


async def _cause(process: Process) -> str:
    code = await process.wait()
    return f"signal {-code}" if code < 0 else f"exit status {code}"


async def _end(process: Process) -> None:
    if process.returncode is None:
        process.kill()
    await process.wait()
