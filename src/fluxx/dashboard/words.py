"""Numbers, times and sizes as people read them. Pure; used by the templates."""

from datetime import datetime, timedelta
from typing import Final

from fluxx.model.counts import BOUNDS
from fluxx.model.why import words_for

JUST_NOW: Final = 2.0
"""Seconds."""

STEPS: Final = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
MINUTE: Final = 60
KILO: Final = 1024


def ago(moment: datetime, now: datetime) -> str:
    """Return how far away a moment is: ``just now``, ``12 s ago``, ``in 3 min``."""
    seconds = (now - moment).total_seconds()
    if abs(seconds) < JUST_NOW:
        return "just now" if seconds >= 0 else "now"
    size, unit = next((size, unit) for size, unit in STEPS if abs(seconds) >= size)
    words = f"{int(abs(seconds) // size)} {unit}"
    return f"{words} ago" if seconds > 0 else f"in {words}"


def exact(moment: datetime) -> str:
    """Return a moment to the millisecond, in UTC."""
    return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03d} UTC"


def duration(span: timedelta | float | None) -> str:
    """Return a duration (seconds, if it is a number); a dash for none."""
    if span is None:
        return "\N{EN DASH}"
    return words_for(span if isinstance(span, timedelta) else timedelta(seconds=span))


def at_most(seconds: float | None) -> str:
    """Return an upper bound of ``Counts``: ``≤ 7 s``, ``> 2 h`` where nothing bounds it, a dash for none."""
    if seconds is None:
        return "\N{EN DASH}"
    bound = min(seconds, BOUNDS[-1])
    shown = f"{bound:g} s" if bound < MINUTE else words_for(timedelta(seconds=bound))
    return f"\N{LESS-THAN OR EQUAL TO} {shown}" if bound == seconds else f"> {shown}"


def size(count: int | None) -> str:
    """Return a number of bytes."""
    if count is None:
        return "unknown size"
    number = float(count)
    for unit in ("bytes", "KB", "MB", "GB"):
        if number < KILO or unit == "GB":
            return f"{count} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= KILO
    raise AssertionError("unreachable: the last unit takes all")


def number(count: int) -> str:
    """Return a count with its thousands apart."""
    return f"{count:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def percent(share: float | None) -> str:
    """Return a share; 100 % only where nothing is missing."""
    if share is None:
        return "\N{EN DASH}"
    shown = int(share * 1000) / 10 if share < 1 else 100
    return f"{shown:g} %"
