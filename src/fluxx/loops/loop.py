"""A loop is one ``step()`` that answers "how long may I rest?"; this driver does everything else.

It sleeps, wakes early when told to, backs off when a step fails (whatever the news: each would be a
try), and stops between two steps.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from fluxx.errors import Unavailable
from fluxx.telemetry import LOOP_FAILED, LOOP_REST_SECONDS, Facts

ERROR_REST_CAP: Final = 30.0
"""Seconds: the longest rest after steps that failed in a row."""


class Loop:
    """Drives one step for ever. ``step`` returns seconds to rest: 0 when there is more to do."""

    def __init__(self, name: str, step: Callable[[], Awaitable[float]], facts: Facts) -> None:
        self.name = name
        self.failures = 0
        self._step = step
        self._facts = facts
        self._stopping = asyncio.Event()
        self._awake = asyncio.Event()

    def wake(self) -> None:
        """End the present rest: there is something to do. A rest after a failure goes on."""
        self._awake.set()

    def stop(self) -> None:
        """Let ``run`` return after the step that is under way."""
        self._stopping.set()
        self._awake.set()

    async def run(self) -> None:
        """Step and rest until stopped. A failing step is told, backed off from, and tried again."""
        while not self._stopping.is_set():
            self._awake.clear()
            rest = await self._guarded_step()
            self._facts.observe(LOOP_REST_SECONDS, rest, self.name)
            if rest > 0:
                await _passed(rest, unless=self._stopping if self.failures else self._awake)
            else:
                await asyncio.sleep(0)

    async def _guarded_step(self) -> float:
        try:
            rest = await self._step()
        except Exception as error:  # noqa: BLE001 - a loop outlives whatever its step runs into
            self.failures += 1
            expected = isinstance(error, Unavailable)
            self._facts.tell(LOOP_FAILED, loop=self.name, error=error, trace=None if expected else error)
            return min(0.1 * 2.0**self.failures, ERROR_REST_CAP)
        self.failures = 0
        return rest


async def _passed(seconds: float, *, unless: asyncio.Event) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await unless.wait()
