"""``fluxx top``: the whole service at a glance, redrawn every second; in a pipe, once."""

import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from fluxx.cli import output
from fluxx.cli.opening import with_world
from fluxx.cli.tables import GAP, Column, Room, laid_out

if TYPE_CHECKING:
    from fluxx.model.counts import Counts
    from fluxx.model.job import Extractor
    from fluxx.ports.changes import Change
    from fluxx.wiring import World

EVERY: Final = 1.0
"""Seconds between two looks; each is a handful of short queries, however many jobs there are."""

LATEST: Final = 12
COLUMNS: Final = (
    Column("EXTRACTOR"),
    Column("QUEUED", Room.WHOLE, right=True),
    Column("STARTED", Room.WHOLE, right=True),
    Column("SUCCEEDED", Room.WHOLE, right=True),
    Column("FAILED", Room.WHOLE, right=True),
    Column("RETRIES", Room.WHOLE, right=True),
    Column("P50", Room.WHOLE, right=True),
    Column("P95", Room.WHOLE, right=True),
)
CHANGES: Final = (Column("TIME (UTC)", Room.WHOLE), Column("STATUS", Room.WHOLE), Column("EXTRACTOR"), Column("SAYS"))


def top() -> None:
    """Watch the whole service at a glance.

    Finished jobs, retries and times are those of the last hour.
    """
    with_world(_watched)


async def _watched(world: "World") -> None:
    if not sys.stdout.isatty():
        for line in await _picture(world, sys.maxsize):
            output.line(line)
        return
    import asyncio

    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(highlight=False)
    with Live(console=console, screen=True, auto_refresh=False) as live:
        while True:
            lines = (await _picture(world, console.width))[: console.height - 1]
            live.update(Text("\n".join(lines), no_wrap=True, overflow="ellipsis"), refresh=True)
            await asyncio.sleep(EVERY)


async def _picture(world: "World", width: int) -> list[str]:
    """Return the lines of one look."""
    from fluxx.dashboard.trouble import RECENT_MINUTES, troubles

    now = world.clock.now()
    extractors = {each.client_application_extractor_id: each for each in await world.registrations.extractors()}
    all_time = await world.observer.since_the_beginning()
    hour = await world.observer.since(now - timedelta(hours=1))
    recent = await world.observer.since(now - timedelta(minutes=RECENT_MINUTES))
    backlog = await world.observer.backlog()
    wrong = troubles(backlog, recent, all_time, extractors, now)
    changes = await world.changes.newest(limit=LATEST)
    told = [f"{trouble.sentence} {trouble.advice}" for trouble in wrong] or ["Nothing is wrong."]
    return [
        f"fluxx top   {output.moment(now)} UTC",
        "",
        *(output.printable(line) for line in told),
        "",
        *_table(COLUMNS, _rows(extractors, all_time, hour), width),
        "",
        *_table(CHANGES, [_change(each, extractors) for each in reversed(changes)], width),
    ]


def _rows(
    extractors: "Mapping[UUID, Extractor]", all_time: "Mapping[UUID, Counts]", hour: "Mapping[UUID, Counts]"
) -> list[Sequence[str]]:
    from fluxx.model.counts import Counts, total

    rows = [
        _row(
            each.name + ("" if each.is_active else " (inactive)"), all_time.get(key, Counts()), hour.get(key, Counts())
        )
        for key, each in extractors.items()
    ]
    return [*rows, _row("all", total([*all_time.values()]), total([*hour.values()]))]


def _row(name: str, all_time: "Counts", hour: "Counts") -> Sequence[str]:
    numbers: tuple[Any, ...] = (all_time.waiting, all_time.working, hour.succeeded, hour.failed, hour.retries)
    return (
        output.printable(name),
        *map(str, numbers),
        _at_most(hour.longest_time_to_result(0.5)),
        _at_most(hour.longest_time_to_result(0.95)),
    )


def _at_most(seconds: float | None) -> str:
    from fluxx.dashboard.words import at_most

    return at_most(seconds).replace("\N{LESS-THAN OR EQUAL TO}", output.encodable("\N{LESS-THAN OR EQUAL TO}", "<="))


def _change(change: "Change", extractors: "Mapping[UUID, Extractor]") -> Sequence[str]:
    found = extractors.get(change.client_application_extractor_id)
    name = found.name if found else str(change.client_application_extractor_id)
    return (
        f"{change.timestamp:%H:%M:%S}",
        change.status,
        output.printable(name),
        output.printable(change.message or ""),
    )


def _table(columns: Sequence[Column], rows: list[Sequence[str]], width: int) -> list[str]:
    fitted = laid_out(columns, rows, width=width, ellipsis=output.encodable("…", "~")) or rows
    return [GAP.join(row).rstrip() for row in fitted]
