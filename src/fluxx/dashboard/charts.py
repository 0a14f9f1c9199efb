"""Bars as SVG: where each one stands. Pure; the template draws them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from fluxx.ports.observing import Minute

HEIGHT: Final = 100.0
STEPS: Final = (1, 2, 5)
"""Heights of the axis are round numbers: these times a power of ten."""


class Bar(msgspec.Struct, frozen=True):
    """One interval: what ``succeeded`` and ``failed`` in it, and where its two parts stand from the top."""

    at: datetime
    until: datetime
    x: float
    succeeded: int
    failed: int
    succeeded_y: float
    succeeded_height: float
    failed_y: float
    failed_height: float


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """Bars from ``since`` to ``until``; ``top`` is the number at the axis' upper end."""

    bars: Sequence[Bar]
    since: datetime
    until: datetime
    top: int
    width: float
    minutes_per_bar: int

    @property
    def is_empty(self) -> bool:
        """Whether nothing finished in the whole time."""
        return not any(bar.succeeded or bar.failed for bar in self.bars)


def chart_of(minutes: Sequence[Minute], *, now: datetime, hours: int, bars: int) -> Chart:
    """Return the last ``hours`` as ``bars`` bars; the last one holds the present minute."""
    size = max(hours * 60 // bars, 1)
    end = now.replace(second=0, microsecond=0) + timedelta(minutes=1)
    since = end - timedelta(minutes=size * bars)
    succeeded, failed = [0] * bars, [0] * bars
    for minute in minutes:
        place = int((minute.at - since).total_seconds() // 60 // size)
        if 0 <= place < bars:
            succeeded[place] += minute.succeeded
            failed[place] += minute.failed
    sums = [*zip(succeeded, failed, strict=True)]
    top = round_above(max((good + bad for good, bad in sums), default=0))
    made = [_bar(place, each, since + timedelta(minutes=place * size), size, top) for place, each in enumerate(sums)]
    return Chart(bars=made, since=since, until=end, top=top, width=float(bars), minutes_per_bar=size)


def _bar(place: int, sums: tuple[int, int], at: datetime, size: int, top: int) -> Bar:
    succeeded, failed = sums
    good, bad = HEIGHT * succeeded / top, HEIGHT * failed / top
    return Bar(
        at=at,
        until=at + timedelta(minutes=size),
        x=place,
        succeeded=succeeded,
        failed=failed,
        succeeded_y=round(HEIGHT - good, 2),
        succeeded_height=round(good, 2),
        failed_y=round(HEIGHT - good - bad, 2),
        failed_height=round(bad, 2),
    )


def round_above(number: int) -> int:
    """Return the least round number that is not less than ``number``, and at least 4."""
    scale = 1
    while True:
        for step in STEPS:
            if step * scale >= max(number, 4):
                return step * scale
        scale *= 10
