"""Changes made up for those who follow them."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from fluxx.api.live_hub import Watcher
from fluxx.model.job import Status
from fluxx.ports.changes import Change
from support.facts import BOUND

AN_ID = UUID(int=1)
SOON = 5
"""Turns of the event loop in which what waits for nothing is done."""


def changes(*numbers: int) -> list[Change]:
    """Changes of these numbers, all of one job."""
    return [
        Change(
            change_id=number,
            job_id=AN_ID,
            file_id=AN_ID,
            client_application_id=AN_ID,
            client_application_extractor_id=AN_ID,
            status=Status.QUEUED,
            message=None,
            attempt_number=0,
            timestamp=datetime(2026, 3, 1, tzinfo=UTC),
        )
        for number in numbers
    ]


async def taken(watcher: Watcher, count: int) -> list[int]:
    """The numbers of the next ``count`` changes that come to ``watcher``."""
    seen: list[int] = []
    async with asyncio.timeout(BOUND):
        while len(seen) < count:
            news = await watcher.next(patience=BOUND)
            assert news is not None, seen
            seen += [sent.change.change_id for sent in news]
    return seen


class MadeUpChanges:
    """A ``Changes`` over what was committed, in whatever order, counting how often it is read.

    Where ``is_held`` each read waits to be let through by ``one_read``; ``trouble`` is what reads end in.
    """

    def __init__(self, count: int = 0) -> None:
        self.reads = 0
        self.trouble: Exception | None = None
        self.is_held = False
        self._committed: dict[int, Change] = {}
        self._asked = asyncio.Event()
        self._let_through = asyncio.Event()
        self.add(count)

    @property
    def numbers(self) -> list[int]:
        """The numbers of all that was committed, in order."""
        return sorted(self._committed)

    def add(self, count: int) -> None:
        """Let ``count`` more changes happen."""
        last = max(self._committed, default=0)
        self.commit(*range(last + 1, last + count + 1))

    def commit(self, *numbers: int) -> None:
        """Let the changes of these numbers happen."""
        self._committed |= dict(zip(numbers, changes(*numbers), strict=True))

    def purge(self, *, up_to: int) -> None:
        """Forget changes."""
        self._committed = {number: change for number, change in self._committed.items() if number > up_to}

    async def begun_read(self) -> None:
        """Wait until a read waits to be let through."""
        async with asyncio.timeout(BOUND):
            await self._asked.wait()

    async def is_asked(self) -> bool:
        """Whether a read waits to be let through, or will at once."""
        await _turns()
        return self._asked.is_set()

    async def one_read(self) -> None:
        """Let the next read through, and wait until it has been dealt with."""
        await self.begun_read()
        self._asked.clear()
        self._let_through.set()
        await _turns()

    async def newest(self, *, limit: int) -> Sequence[Change]:
        """See ``Changes.newest``."""
        return [self._committed[number] for number in self.numbers[-limit:]]

    async def after(self, change_id: int, *, missing: Sequence[int], limit: int) -> Sequence[Change]:
        """See ``Changes.after``."""
        self.reads += 1
        if self.is_held:
            self._let_through.clear()
            self._asked.set()
            await self._let_through.wait()
        if self.trouble:
            raise self.trouble
        beyond = range(change_id + 1, max(self._committed, default=0) + 1)
        found = [number for number in (*sorted(missing), *beyond) if number in self._committed]
        return [self._committed[number] for number in found[:limit]]


async def _turns() -> None:
    for _ in range(SOON):
        await asyncio.sleep(0)
