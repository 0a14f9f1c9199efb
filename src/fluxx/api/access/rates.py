"""How often each caller may call: a token bucket each, in bounded memory.

Kept as GCRA (the "virtual scheduling" form of the leaky bucket, ITU-T I.371): one number for each caller, the
moment at which its bucket will be full again.
"""

from collections import OrderedDict
from collections.abc import Callable
from time import monotonic
from typing import Final

BURST_SECONDS: Final = 10.0
"""A caller that was quiet may make as many requests at once as it could in this time."""

LARGEST: Final = 10_000
"""Callers remembered; beyond, the one that was quiet for the longest is forgotten, its bucket full."""


class Rates:
    """Buckets of ``per_second`` requests a second; ``now`` tells seconds."""

    def __init__(self, per_second: float, *, now: Callable[[], float] = monotonic) -> None:
        self._interval = 1 / per_second
        self._room = max(BURST_SECONDS - self._interval, 0.0)
        self._now = now
        self._full_at: OrderedDict[str, float] = OrderedDict()

    def wait(self, who: str) -> float:
        """Take a request out of the bucket of ``who``: return 0, or the seconds until there is one in it."""
        now = self._now()
        full_at = max(self._full_at.get(who, now), now)
        if full_at - now > self._room:
            return full_at - now - self._room
        self._full_at[who] = full_at + self._interval
        self._full_at.move_to_end(who)
        if len(self._full_at) > LARGEST:
            self._full_at.popitem(last=False)
        return 0.0
