"""Timekeeping: holds this process's clock to the database's, which is the one that counts.

Run by every service for as long as it lives. Corrected or not, a clock that is far off is told: the
log's own times are the machine's.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

from fluxx.clock import Clock, CorrectedClock
from fluxx.telemetry import CLOCK_OFF, Facts

REST: Final = 60.0
"""Seconds between two measurements."""

TOLERATED: Final = timedelta(seconds=1)
"""Beyond this offset a warning is told."""


class Timekeeping:
    """The step of the timekeeping loop. ``offset_of`` says what a clock lacks to the database's."""

    def __init__(
        self, *, clock: CorrectedClock, offset_of: Callable[[Clock], Awaitable[timedelta]], facts: Facts
    ) -> None:
        self._clock = clock
        self._offset_of = offset_of
        self._facts = facts

    async def step(self) -> float:
        """Measure and correct; return the seconds to rest. Raises ``Unavailable``."""
        self._clock.offset += await self._offset_of(self._clock)
        if abs(self._clock.offset) > TOLERATED:
            self._facts.tell(CLOCK_OFF, seconds=round(self._clock.offset.total_seconds(), 3))
        return REST
