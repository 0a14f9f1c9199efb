"""Starts the parts of a service in order, watches over them, and stops them in reverse order."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from fluxx.telemetry import PART_STARTED, PART_STOPPED, Facts


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """Something that runs: ``run`` returns after ``stop`` was called, and gets ``drain`` seconds for it."""

    name: str
    run: Callable[[], Awaitable[None]]
    stop: Callable[[], None]
    drain: float = 10.0


class Supervisor:
    """Runs parts side by side. A part that ends by itself, or fails, ends the service."""

    def __init__(self, parts: Sequence[Part], facts: Facts) -> None:
        self._parts = parts
        self._facts = facts
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Ask for the end; safe from a signal handler and more than once."""
        self._stopping.set()

    async def run(self) -> None:
        """Run until ``stop`` or until a part ends; then drain in reverse order.

        Raises what a part raised.
        """
        tasks: list[tuple[Part, asyncio.Task[None]]] = []
        for part in self._parts:
            tasks.append((part, asyncio.create_task(_run(part), name=part.name)))
            self._facts.tell(PART_STARTED, part=part.name)
        asked = asyncio.create_task(self._stopping.wait(), name="stop")
        await asyncio.wait([asked, *(task for _, task in tasks)], return_when=asyncio.FIRST_COMPLETED)
        asked.cancel()
        failures = [failure for part, task in reversed(tasks) if (failure := await self._end(part, task))]
        if failures:
            raise failures[0]

    async def _end(self, part: Part, task: asyncio.Task[None]) -> BaseException | None:
        part.stop()
        await asyncio.wait([task], timeout=part.drain)
        drained = task.done()
        if not drained:
            task.cancel()
            await asyncio.wait([task])
        self._facts.tell(PART_STOPPED, part=part.name, drained=drained)
        return None if task.cancelled() else task.exception()


async def _run(part: Part) -> None:
    await part.run()
