"""The end of the stream of changes: what was read, and which numbers are still missing. Pure.

A database hands out a change's number before its transaction is committed, so a lower number can appear
after a higher one. Numbers that are passed over are asked for again for a while: either they come, or
their transaction was rolled back.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from fluxx.ports.changes import Change

PATIENCE: Final = 10
"""Reads in which a missing number is asked for again: a second apart, they take longer than any transaction of ours.

Not seconds: where the database stands still, so does the transaction.
"""

MOST_MISSING: Final = 1000
"""Of more only the last are waited for: a server skips thousands when it restarts, more than it can be asked for."""


class Tail:
    """Begins after ``high``."""

    def __init__(self, high: int = 0) -> None:
        self.high = high
        self._missing: dict[int, int] = {}

    @classmethod
    def behind(cls, changes: Sequence[Change]) -> "Tail":
        """Return a tail that has seen ``changes``, the newest ones in order; what they passed over may still come."""
        newest = changes[-1].change_id if changes else 0
        tail = cls(max(0, newest - MOST_MISSING))
        for _ in tail.news(changes):
            pass
        return tail

    @property
    def asked(self) -> Sequence[int]:
        """The numbers to ask for again: those that are missing, and the highest, which ``is_cut_off`` looks for."""
        return [*self._missing, self.high]

    @property
    def mark(self) -> int:
        """The number up to which everything was seen: whoever resumes after it misses nothing."""
        return min(self._missing) - 1 if self._missing else self.high

    def is_cut_off(self, changes: Sequence[Change]) -> bool:
        """Whether the highest isn't among what was read: purged, or restored from a backup; numbers may come again."""
        return self.high > 0 and all(change.change_id != self.high for change in changes)

    def news(self, changes: Sequence[Change]) -> Iterator[Change]:
        """Yield those of the changes, which one read brought in order, that weren't seen."""
        found = {change.change_id for change in changes}
        self._missing = {number: left - 1 for number, left in self._missing.items() if left > 1 or number in found}
        for change in changes:
            if change.change_id > self.high:
                self._pass_over(change.change_id)
                self.high = change.change_id
                yield change
            elif self._missing.pop(change.change_id, None) is not None:
                yield change

    def _pass_over(self, reached: int) -> None:
        first = max(self.high + 1, reached - MOST_MISSING)
        self._missing |= dict.fromkeys(range(first, reached), PATIENCE)
        for number in [*self._missing][:-MOST_MISSING]:
            del self._missing[number]
