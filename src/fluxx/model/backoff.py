"""How long to wait: between polls, after an error, and while something of ours is away. Pure.

``jitter`` is a number in [0, 1) drawn by the caller; a given jitter gives a given wait. All in seconds.
"""

from math import log
from typing import Final

from fluxx.model.deadlines import Limits

POLL_SPREAD: Final = 0.1
"""Polls are spread by up to this share of the interval, so that a burst or restart can't align them."""

SHORTEST_WISH: Final = 1.0
"""An extractor that asks for less, or for "at once", is polled this often, or at our own interval."""


def poll_wait(attempts: int, limits: Limits, jitter: float, *, wish: float | None = None) -> float:
    """Return the time until the next poll after ``attempts`` answered ones (story 9).

    ``wish`` is what the extractor asked for (``Retry-After``). It is never undercut, but one below
    ``SHORTEST_WISH`` doesn't make us poll faster than our own interval would.
    """
    if wish is not None:
        return spread(max(wish, min(SHORTEST_WISH, limits.poll_interval)), jitter)
    interval = _grown(limits.poll_interval, limits.poll_backoff_factor, attempts, limits.poll_max_interval)
    return interval * (1.0 - POLL_SPREAD * jitter)


def retry_wait(errors: int, limits: Limits, jitter: float) -> float:
    """Return the time to wait after the ``errors``-th error: exponential with full jitter.

    Source: "Exponential Backoff And Jitter", AWS Architecture Blog; the floor of a tenth keeps a
    lucky draw from hammering.
    """
    return _jittered(_grown(limits.retry_base, 2.0, errors - 1, limits.retry_cap), jitter)


def outage_wait(unheard: float, limits: Limits, jitter: float) -> float:
    """Return the time to wait for something of ours that is away, ``unheard`` after the last good news.

    Such errors are not counted, so the wait grows with the time that has gone by: that too is exponential.
    """
    return _jittered(min(max(unheard, limits.retry_base), limits.retry_cap), jitter)


def spread(wish: float, jitter: float) -> float:
    """Return a little more than the ``wish``, so that many jobs told the same don't come back at once."""
    return wish * (1.0 + POLL_SPREAD * jitter)


def _jittered(ceiling: float, jitter: float) -> float:
    return max(ceiling * jitter, ceiling / 10)


def _grown(base: float, factor: float, times: int, cap: float) -> float:
    """Return base * factor ** times, at most ``cap``; compared as logarithms, because powers overflow."""
    return cap if times * log(factor) >= log(cap / base) else base * factor**times
