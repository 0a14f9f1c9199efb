"""Jobs while they live: a table that redraws itself on a terminal, one line for each change elsewhere."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Final
from uuid import UUID

from fluxx.cli.output import encodable, line, printable, styled
from fluxx.cli.tables import GAP, Column, Room, Row, laid_out_in_part, shortened
from fluxx.cli.watching import Display, Seen
from fluxx.clock import Clock
from fluxx.model.job import JobStatus

if TYPE_CHECKING:
    from rich.live import Live

COLUMNS: Final = (
    Column("FILE", Room.NAME),
    Column("EXTRACTOR", Room.NAME),
    Column("STATUS", Room.WHOLE),
    Column("POLLS", Room.WHOLE, right=True),
    Column("TIME", Room.WHOLE, right=True),
    Column("SAYS"),
)
"""In the order of their worth: the last ones are left out where they don't fit."""

ROOM: Final = 4
"""Lines of a terminal left to the title, the count of what isn't shown, and the prompt."""


@contextmanager
def display(clock: Clock) -> Iterator[Display]:
    """Give the display that fits stdout; what a terminal was shown is wiped at the end."""
    if not sys.stdout.isatty():
        yield PlainDisplay()
        return
    from rich.console import Console
    from rich.live import Live

    ellipsis = encodable("…", "~")  # asked now: Live puts itself between us and stdout
    with Live(console=Console(highlight=False), transient=True, auto_refresh=False) as live:
        yield LiveDisplay(live, clock, ellipsis)


class NoDisplay:
    """Shows nothing: the caller prints JSON at the end."""

    def update(self, seen: Sequence[Seen]) -> None:
        """Do nothing."""


class PlainDisplay:
    """Prints each change of a job once, in the order of their times. Polls that change nothing are left out."""

    def __init__(self) -> None:
        self._told: dict[UUID, int] = {}
        self._arrow = encodable("→", "->")
        self._ellipsis = encodable("…", "~")

    def update(self, seen: Sequence[Seen]) -> None:
        """Print what is new since the last look."""
        for _, words in sorted((moment, words) for each in seen for moment, words in self._news(each)):
            line(words)

    def _news(self, seen: Seen) -> Iterator[tuple[datetime, str]]:
        told = self._told.get(seen.job.job_id, 0)
        self._told[seen.job.job_id] = len(seen.history)
        steps: list[tuple[JobStatus | None, JobStatus]] = [(None, first) for first in seen.history[:1]]
        steps += pairwise(seen.history)
        for before, now in steps[told:]:
            if before is None or before.status is not now.status or before.attempt_number == now.attempt_number:
                yield now.timestamp, self._words(seen, before, now)

    def _words(self, seen: Seen, before: JobStatus | None, now: JobStatus) -> str:
        changed = before is not None and before.status is not now.status
        status = f"{before.status} {self._arrow} {now.status}" if before and changed else now.status
        message = "" if before is None else now.message or ""
        names = [shortened(printable(name), ellipsis=self._ellipsis) for name in (seen.file_name, seen.extractor_name)]
        parts = (f"{now.timestamp:%H:%M:%S}", *names, status, printable(message))
        return GAP.join(part for part in parts if part)


class LiveDisplay:
    """Redraws a table of the jobs; where it is higher than the terminal, those still alive come first."""

    def __init__(self, live: "Live", clock: Clock, ellipsis: str) -> None:
        self._live = live
        self._ellipsis = ellipsis
        self._clock = clock

    def update(self, seen: Sequence[Seen]) -> None:
        """Redraw."""
        from rich.console import Group

        room = max(self._live.console.height - ROOM, 1)
        shown = seen if len(seen) <= room else sorted(seen, key=lambda each: each.job.status.is_final)[:room]
        rest = len(seen) - len(shown)
        below = [f"and {rest} more"] if rest else []
        self._live.update(Group(*styled(self._fitted(shown)), *below), refresh=True)

    def _fitted(self, seen: Sequence[Seen]) -> Sequence[Row]:
        rows = [self._row(each) for each in seen]
        return laid_out_in_part(COLUMNS, rows, width=self._live.console.width, ellipsis=self._ellipsis)[0]

    def _row(self, seen: Seen) -> tuple[str, ...]:
        job = seen.job
        return (
            printable(seen.file_name),
            printable(seen.extractor_name),
            job.status,
            str(job.poll_attempt_count),
            duration(job.created_at, job.completed_at or self._clock.now()),
            printable(job.status_message or ""),
        )


def duration(start: datetime, end: datetime) -> str:
    """Return how long something took, as people say it."""
    seconds = max((end - start).total_seconds(), 0.0)
    if seconds < 100:  # noqa: PLR2004 - three digits of seconds are harder to read than minutes
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
