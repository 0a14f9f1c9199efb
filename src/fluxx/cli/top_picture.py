"""What ``fluxx top`` shows of one look, for the room there is: what is wrong first, then the numbers, then the news."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

import msgspec

from fluxx.cli.output import moment, printable
from fluxx.cli.tables import GAP, Column, Room, Row, laid_out_in_part, wrapped
from fluxx.dashboard.trouble import Trouble
from fluxx.dashboard.words import at_most
from fluxx.model.counts import Counts, total

if TYPE_CHECKING:
    from fluxx.model.job import Extractor
    from fluxx.ports.changes import Change

COLUMNS: Final = (
    Column("EXTRACTOR", Room.NAME),
    Column("QUEUED", Room.WHOLE, right=True),
    Column("STARTED", Room.WHOLE, right=True),
    Column("SUCCEEDED", Room.WHOLE, right=True),
    Column("FAILED", Room.WHOLE, right=True),
    Column("P50", Room.WHOLE, right=True),
    Column("P95", Room.WHOLE, right=True),
    Column("RETRIES", Room.WHOLE, right=True),
)
"""In the order of their worth: the last ones are left out where they don't fit."""

CHANGES: Final = (
    Column("TIME (UTC)", Room.WHOLE),
    Column("STATUS", Room.WHOLE),
    Column("EXTRACTOR", Room.NAME),
    Column("SAYS"),
)
FEW: Final = 3
"""Changes that are shown however many extractors there are."""

AROUND: Final = 5
"""Lines around the troubles, numbers and changes: two of the title, one above each table, the changes' titles."""

TITLES_AND_ALL: Final = 2
"""Lines of the numbers that are no extractor's."""


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """What was found at one moment; ``changes`` newest first, ``hour`` the counts of the last hour."""

    now: datetime
    extractors: "Mapping[UUID, Extractor]"
    all_time: Mapping[UUID, Counts]
    hour: Mapping[UUID, Counts]
    troubles: Sequence[Trouble]
    changes: "Sequence[Change]"


def picture(look: Look, *, width: int, height: int) -> list[str]:
    """Return the lines, at most ``height``; what has no room is counted or, of the changes, the oldest."""
    told = _told(look.troubles, width, max(height // 3, 2))
    room = height - len(told) - AROUND
    numbers, left_out = _numbers(look, width, room - FEW)
    changes = [_change(each, look.extractors) for each in look.changes[: max(room - len(numbers), 0)]]
    lines = [
        f"fluxx top   {moment(look.now)} UTC",
        "",
        *told,
        f"(no room for {', '.join(column.title for column in left_out)})" if left_out else "",
        *numbers,
        "",
        *_table(CHANGES, changes, width)[0],
    ]
    return lines[:height]


def _told(troubles: Sequence[Trouble], width: int, height: int) -> list[str]:
    """Return the troubles and what to do about each, wrapped; as many as fit."""
    if not troubles:
        return ["Nothing is wrong."]
    lines: list[str] = []
    for place, trouble in enumerate(troubles):
        new = wrapped(printable(f"{trouble.sentence} {trouble.advice}"), width)
        is_last = place == len(troubles) - 1
        if place and len(lines) + len(new) + (not is_last) > height:
            return [*lines, f"and {len(troubles) - place} more"]
        lines += new
    return lines


def _numbers(look: Look, width: int, height: int) -> tuple[list[str], Sequence[Column]]:
    """Return the table of the extractors, all together first, and the columns that it has no room for.

    Where there are too many extractors, those come first that fail or have most to do.
    """
    each = [(extractor, *_counts(look, key)) for key, extractor in look.extractors.items()]
    most = max(height - TITLES_AND_ALL, 1)
    more = len(each) - most + 1 if len(each) > most else 0
    if more:
        each.sort(key=lambda one: (-one[2].failed, -one[1].waiting - one[1].working))
    shown = each[: len(each) - more]
    rows = [_row("all", total([*look.all_time.values()]), total([*look.hour.values()]))]
    rows += [_row(one.name + ("" if one.is_active else " (inactive)"), *counts) for one, *counts in shown]
    lines, left_out = _table(COLUMNS, rows, width)
    return [*lines, *([f"and {more} more"] if more else [])], left_out


def _counts(look: Look, key: UUID) -> tuple[Counts, Counts]:
    return look.all_time.get(key, Counts()), look.hour.get(key, Counts())


def _row(name: str, all_time: Counts, hour: Counts) -> Row:
    times = (_at_most(hour.longest_time_to_result(share)) for share in (0.5, 0.95))
    counts = (all_time.waiting, all_time.working, hour.succeeded, hour.failed)
    return printable(name), *map(str, counts), *times, str(hour.retries)


def _at_most(seconds: float | None) -> str:
    return "-" if seconds is None else at_most(seconds)


def _change(change: "Change", extractors: "Mapping[UUID, Extractor]") -> Row:
    found = extractors.get(change.client_application_extractor_id)
    name = found.name if found else str(change.client_application_extractor_id)
    return f"{change.timestamp:%H:%M:%S}", change.status, printable(name), printable(change.message or "")


def _table(columns: Sequence[Column], rows: Sequence[Row], width: int) -> tuple[list[str], Sequence[Column]]:
    fitted, left_out = laid_out_in_part(columns, rows, width=width)
    return [GAP.join(row).rstrip() for row in fitted], left_out
