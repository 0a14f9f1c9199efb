"""``fluxx top``: the whole service at a glance, redrawn every second; in a pipe, once."""

import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from fluxx.cli import output
from fluxx.cli.opening import with_world

if TYPE_CHECKING:
    from fluxx.cli.top_picture import Look
    from fluxx.wiring import World

EVERY: Final = 1.0
"""Seconds between two looks; each is a handful of short queries, however many jobs there are."""

LATEST: Final = 12
INSTEAD: Final = {"\N{HORIZONTAL ELLIPSIS}": "~", "\N{LESS-THAN OR EQUAL TO} ": "<="}
"""What stands, as wide as they are, for signs that stdout can't show."""


def top() -> None:
    """Watch the whole service at a glance.

    Finished jobs, retries and times are those of the last hour.
    """
    with_world(_watched)


async def _watched(world: "World") -> None:
    from fluxx.cli.top_picture import picture

    # Asked now: Live puts itself between us and stdout.
    signs = {sign: output.encodable(sign, instead) for sign, instead in INSTEAD.items()}
    if not sys.stdout.isatty():
        output.line(_encodable(picture(await _look(world), width=sys.maxsize, height=sys.maxsize), signs))
        return
    import asyncio

    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(highlight=False)
    with Live(console=console, screen=True, auto_refresh=False) as live:
        while True:
            lines = picture(await _look(world), width=console.width, height=console.height - 1)
            live.update(Text(_encodable(lines, signs), no_wrap=True, overflow="ellipsis"), refresh=True)
            await asyncio.sleep(EVERY)


def _encodable(lines: Sequence[str], signs: Mapping[str, str]) -> str:
    text = "\n".join(lines)
    for sign, shown in signs.items():
        text = text.replace(sign, shown)
    return text


async def _look(world: "World") -> "Look":
    from fluxx.cli.top_picture import Look
    from fluxx.dashboard.trouble import LOOKED_AT, RECENT_MINUTES, troubles
    from fluxx.model.job import Status
    from fluxx.ports.jobs import JobFilter

    now = world.clock.now()
    extractors = {each.client_application_extractor_id: each for each in await world.registrations.extractors()}
    all_time = await world.observer.since_the_beginning()
    wrong = troubles(
        await world.observer.backlog(),
        workers=await world.presence.workers(),
        recent=await world.observer.since(now - timedelta(minutes=RECENT_MINUTES)),
        all_time=all_time,
        extractors=extractors,
        failed=await world.reader.jobs(JobFilter(status=Status.FAILED), limit=LOOKED_AT),
        now=now,
    )
    return Look(
        now=now,
        extractors=extractors,
        all_time=all_time,
        hour=await world.observer.since(now - timedelta(hours=1)),
        troubles=wrong,
        changes=await world.changes.newest(limit=LATEST),
    )
