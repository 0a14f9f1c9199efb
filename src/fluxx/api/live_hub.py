"""All who watch, served by one reader: one query a second in each process, however many watch, none when nobody does.

A watcher has room for so many changes and no more: one that reads too slowly is dropped, and comes back
with the number of the last change that it has seen. So do all where reading ends: nobody is left to wait
for what will not come. Used by ``live`` (server-sent events).
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Final, TypeAlias

import msgspec

from fluxx.api.live_tail import Tail
from fluxx.errors import Unavailable
from fluxx.ports.changes import Change, Changes
from fluxx.telemetry import LOOP_FAILED, WATCHER_DROPPED, Facts

EVERY: Final = 1.0
"""Seconds between two queries."""

LARGEST_READ: Final = 5000
KEPT: Final = 10_000
"""Changes kept in memory for those who come back."""

KEPT_AT_START: Final = 1000
LINGER: Final = 30.0
"""Seconds for which reading goes on after the last watcher left: it may only have turned a page."""

ROOM: Final = 2000
"""Changes that wait for one watcher."""

Matches: TypeAlias = Callable[[Change], bool]


class Sent(msgspec.Struct, frozen=True):
    """A change on its way to a watcher, and the ``mark`` to resume from after it."""

    change: Change
    mark: int


class Watcher:
    """One who watches. ``is_lost`` says that changes are missing since the mark that it came with."""

    def __init__(self, matches: Matches) -> None:
        self.matches = matches
        self.is_lost = False
        self._waiting: deque[Sent] = deque()
        self._news = asyncio.Event()
        self._is_over = False

    async def next(self, *, patience: float) -> list[Sent] | None:
        """Return what came, waiting up to ``patience`` seconds (then nothing came); None at the end."""
        if not self._waiting and not self._is_over:
            with suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    await self._news.wait()
        self._news.clear()
        if self._is_over:
            return None
        news = [*self._waiting]
        self._waiting.clear()
        return news

    def give(self, sent: Sent) -> bool:
        """Hand a change over; False where there is no more room: the watcher is over then."""
        if len(self._waiting) >= ROOM:
            self.end()
            return False
        self._waiting.append(sent)
        self._news.set()
        return True

    def end(self) -> None:
        """Let ``next`` return None."""
        self._is_over = True
        self._news.set()


class Hub:
    """Reads changes while somebody watches, and hands them out."""

    def __init__(self, changes: Changes, facts: Facts, *, every: float = EVERY, linger: float = LINGER) -> None:
        self._changes = changes
        self._facts = facts
        self._every = every
        self._linger = linger
        self._left_at = monotonic()
        self._watchers: set[Watcher] = set()
        self._kept: deque[Change] = deque()
        self._kept_since = 0
        self._tail = Tail()
        self._reading: asyncio.Task[None] | None = None
        self._is_closed = False

    @contextmanager
    def watching(self, matches: Matches) -> Iterator[Watcher]:
        """Give a watcher of what matches, from now on."""
        watcher = Watcher(matches)
        if self._is_closed:
            watcher.end()
        self._watchers.add(watcher)
        try:
            yield watcher
        finally:
            self._watchers.discard(watcher)
            self._left_at = monotonic()

    async def begin(self, watcher: Watcher, after: int | None) -> int:
        """Bring a watcher up to date from the mark ``after`` (None: from now on); return the mark to begin with.

        Where that is too long ago, or of a time that the database knows nothing of (purged, restored), it is lost, and
        has to look at everything anew. Raises ``Unavailable``.
        """
        if self._reading is None or self._reading.done():
            await self._start()
        if after is not None:
            missed = [each for each in self._kept if each.change_id > after and watcher.matches(each)]
            watcher.is_lost = not self._kept_since <= after <= self._tail.high or len(missed) > ROOM
            for change in [] if watcher.is_lost else sorted(missed, key=lambda each: each.change_id):
                watcher.give(Sent(change, min(change.change_id, self._tail.mark)))
        return self._tail.mark if after is None or watcher.is_lost else after

    def close(self) -> None:
        """End all watchers, and let nobody watch any more; twice is fine."""
        self._is_closed = True
        self._end_all()
        if self._reading is not None:
            self._reading.cancel()

    async def _start(self) -> None:
        newest = await self._changes.newest(limit=KEPT_AT_START)
        if not self._is_closed and (self._reading is None or self._reading.done()):
            self._kept = deque(newest)
            self._kept_since = newest[0].change_id - 1 if newest else 0
            self._tail = Tail.behind(newest)
            self._reading = asyncio.create_task(self._read_while_watched(), name="live")

    async def _read_while_watched(self) -> None:
        try:
            while self._watchers or monotonic() - self._left_at < self._linger:
                await asyncio.sleep(self._every)
                if not await self._read():
                    return
        except Exception as error:  # noqa: BLE001 - told; who watches comes back, and reading begins anew
            self._facts.tell(LOOP_FAILED, loop="live", error=error, trace=error)
        finally:
            self._end_all()

    async def _read(self) -> bool:
        """Hand out what is new; False where reading can't go on from where it was."""
        try:
            found = await self._changes.after(self._tail.high, missing=self._tail.asked, limit=LARGEST_READ)
        except Unavailable as error:
            self._facts.tell(LOOP_FAILED, loop="live", error=error)
            return True
        if self._tail.is_cut_off(found):
            return False
        for change in self._tail.news(found):
            self._kept.append(change)
            self._hand_out(Sent(change, self._tail.mark))
        while len(self._kept) > KEPT:
            self._kept_since = max(self._kept_since, self._kept.popleft().change_id)
        return True

    def _hand_out(self, sent: Sent) -> None:
        for watcher in [each for each in self._watchers if each.matches(sent.change)]:
            if not watcher.give(sent):
                self._watchers.discard(watcher)
                self._facts.tell(WATCHER_DROPPED)

    def _end_all(self) -> None:
        for watcher in self._watchers:
            watcher.end()
        self._watchers.clear()
