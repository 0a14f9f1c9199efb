"""How long to wait: between polls, and after an error. Pure: chance is handed in.

``jitter`` is a number in [0, 1) drawn by the caller; a given jitter gives a given wait.
"""

from fluxx.model.deadlines import Limits

POLL_SPREAD = 0.1
"""Polls are spread by up to this share of the interval, so that a burst or restart can't align them."""


def poll_wait(attempts: int, limits: Limits, jitter: float) -> float:
    """Return the seconds until the next poll after ``attempts`` answered ones (story 9)."""
    return _grown(limits.poll_interval, limits.poll_backoff_factor, attempts, limits.poll_max_interval) * (
        1.0 - POLL_SPREAD * jitter
    )


def retry_wait(errors: int, limits: Limits, jitter: float) -> float:
    """Return the seconds to wait after the ``errors``-th error: exponential with full jitter.

    Source: "Exponential Backoff And Jitter", AWS Architecture Blog; the floor of a tenth keeps a
    lucky draw from hammering.
    """
    ceiling = _grown(limits.retry_base, 2.0, errors - 1, limits.retry_cap)
    return max(ceiling * jitter, ceiling / 10)


def _grown(base: float, factor: float, times: int, cap: float) -> float:
    if factor <= 1.0 or times <= 0:
        return min(base, cap)
    return min(base * factor ** min(times, 64), cap)
