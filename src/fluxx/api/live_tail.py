"""The end of the stream of changes: what was read, and which numbers are still missing. Pure.

A database hands out a change's number before its transaction is committed, so a lower number can appear
after a higher one. Numbers that are passed over are asked for again for a while: either they come, or
their transaction was rolled back.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from fluxx.ports.changes import Change

PATIENCE: Final = 10.0
"""Seconds for which a missing number is asked for again: longer than any transaction of ours."""

MOST_MISSING: Final = 500
"""Of a larger gap only the last numbers are waited for: a server skips thousands when it restarts."""


class Tail:
    """Begins after ``high``."""

    def __init__(self, high: int = 0) -> None:
        self.high = high
        self._missing: dict[int, float] = {}

    @property
    def missing(self) -> Sequence[int]:
        """The numbers to ask for again."""
        return sorted(self._missing)

    @property
    def mark(self) -> int:
        """The number up to which everything was seen: whoever resumes after it misses nothing."""
        return min(self._missing) - 1 if self._missing else self.high

    def news(self, changes: Sequence[Change], now: float) -> Iterator[Change]:
        """Yield those of the changes, which come in order, that weren't seen; ``now`` is any clock in seconds."""
        self._missing = {number: until for number, until in self._missing.items() if until > now}
        for change in changes:
            if change.change_id > self.high:
                self._pass_over(change.change_id, now)
                self.high = change.change_id
                yield change
            elif self._missing.pop(change.change_id, None) is not None:
                yield change

    def _pass_over(self, reached: int, now: float) -> None:
        first = max(self.high + 1, reached - MOST_MISSING)
        self._missing |= dict.fromkeys(range(first, reached), now + PATIENCE)
