"""Time, handed in. Production uses the system's clock; tests and the simulation use their own.

Nothing else in the package asks what time it is: that is what makes every waiting testable in no
time at all. Waiting itself goes through the event loop, which a simulation replaces as a whole.
"""

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """The present time."""

    def now(self) -> datetime:
        """Return the present time, aware, in UTC, with microseconds."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the machine's time in UTC."""
        return datetime.now(UTC)


class CorrectedClock:
    """Another clock, moved by the offset to the clock that counts: that of the database.

    Workers on machines whose clocks differ then agree on what is due and which lease is over.
    """

    def __init__(self, clock: Clock) -> None:
        self.offset = timedelta()
        self._clock = clock

    def now(self) -> datetime:
        """Return the corrected time in UTC."""
        return self._clock.now() + self.offset
