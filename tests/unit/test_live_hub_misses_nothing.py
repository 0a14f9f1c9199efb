"""Whoever watches sees every change, is told that some are missing, or is ended and comes back: never a silent hole."""

import asyncio
from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxx.api.live_hub import KEPT, Hub, Watcher
from fluxx.api.live_tail import PATIENCE
from fluxx.errors import Unavailable
from fluxx.telemetry import LOOP_FAILED, Facts
from support.changes import MadeUpChanges, taken
from support.facts import BOUND, FactsHeard


def everything(_: object) -> bool:
    return True


def nothing(_: object) -> bool:
    return False


async def test_reading_goes_on_however_long_a_call_takes_while_somebody_watches() -> None:
    facts, source = Facts(), MadeUpChanges(1)
    heard = FactsHeard(facts)
    hub = Hub(source, facts, every=0, linger=0)  # any call takes longer than that
    with hub.watching(everything) as watcher:
        await hub.begin(watcher, None)
        source.is_held, source.trouble = True, Unavailable("frozen")
        await source.one_read()
        await heard.wait_for(LOOP_FAILED, loop="live")
        source.trouble = None
        source.add(5)
        await source.one_read()
        assert await taken(watcher, 5) == [2, 3, 4, 5, 6]
    hub.close()


async def test_who_comes_while_reading_is_about_to_end_keeps_it_going() -> None:
    source = MadeUpChanges(1)
    hub = Hub(source, Facts(), every=0, linger=0)
    source.is_held = True
    with hub.watching(everything) as first:
        await hub.begin(first, None)
        await source.begun_read()
    with hub.watching(everything) as second:
        await hub.begin(second, 1)
        source.add(1)
        await source.one_read()
        assert await taken(second, 1) == [2]
    await source.one_read()
    reads = source.reads
    await asyncio.sleep(0)
    assert source.reads == reads  # nobody watches any more
    hub.close()


@pytest.mark.parametrize("is_found_out", ["by the read", "while handing out"])
async def test_where_reading_fails_all_are_ended_and_come_back_to_what_they_missed(is_found_out: str) -> None:
    facts, source = Facts(), MadeUpChanges(1)
    heard = FactsHeard(facts)
    hub = Hub(source, facts, every=0)

    def breaks(_: object) -> bool:
        raise ZeroDivisionError

    with hub.watching(everything) as watcher, ExitStack() as others:
        mark = await hub.begin(watcher, None)
        if is_found_out == "by the read":
            source.trouble = ZeroDivisionError()
        else:
            others.enter_context(hub.watching(breaks))
        source.add(3)
        await heard.wait_for(LOOP_FAILED, loop="live")
        assert await watcher.next(patience=BOUND) is None
        source.trouble = None
    with hub.watching(everything) as watcher:
        assert await hub.begin(watcher, mark) == mark
        assert await taken(watcher, 3) == [2, 3, 4]
    hub.close()


async def test_where_numbers_begin_anew_all_are_ended_and_look_at_everything() -> None:
    source = MadeUpChanges(7)
    hub = Hub(source, Facts(), every=0)
    with hub.watching(everything) as watcher:
        mark = await hub.begin(watcher, None)
        source.purge(up_to=7)
        source.commit(1)
        assert await watcher.next(patience=BOUND) is None
    with hub.watching(everything) as watcher:
        assert await hub.begin(watcher, mark) == 1
        assert watcher.is_lost
    hub.close()


async def test_what_was_purged_meanwhile_is_told() -> None:
    source = MadeUpChanges(9)
    source.purge(up_to=5)
    hub = Hub(source, Facts(), every=0)
    for after, is_lost in ((4, True), (5, False), (9, False), (10, True)):
        with hub.watching(everything) as watcher:
            await hub.begin(watcher, after)
            assert watcher.is_lost == is_lost
    hub.close()


async def test_what_was_committed_late_comes_to_those_who_came_meanwhile() -> None:
    source = MadeUpChanges(2)
    source.commit(4)
    hub = Hub(source, Facts(), every=0)
    with hub.watching(everything) as watcher:
        await hub.begin(watcher, None)
        source.commit(3)
        assert await taken(watcher, 1) == [3]
    hub.close()


async def test_no_mark_says_that_more_was_seen_than_was_sent() -> None:
    source = MadeUpChanges(2)
    source.commit(4, 6)
    hub = Hub(source, Facts(), every=0)

    async def sent_after(mark: int) -> list[tuple[int, int]]:
        with hub.watching(everything) as watcher:
            await hub.begin(watcher, mark)
            return [(sent.change.change_id, sent.mark) for sent in await watcher.next(patience=BOUND) or []]

    with hub.watching(everything) as watcher:
        await hub.begin(watcher, None)
        source.commit(5)
        await taken(watcher, 1)
        assert await sent_after(2) == [(4, 2), (5, 2), (6, 2)]
        source.commit(3)
        await taken(watcher, 1)
        assert await sent_after(2) == [(3, 3), (4, 4), (5, 5), (6, 6)]
    hub.close()


async def test_a_late_number_is_not_forgotten_before_an_earlier_one() -> None:
    source = MadeUpChanges(1)
    hub = Hub(source, Facts(), every=0)
    with hub.watching(lambda change: change.change_id in (3, 2, KEPT + 3)) as watcher:
        await hub.begin(watcher, None)
        source.commit(3)
        await taken(watcher, 1)
        source.commit(2)
        await taken(watcher, 1)  # kept are 1, 3, 2
        source.add(KEPT)
        await taken(watcher, 1)
        for after, is_lost in ((2, True), (3, False)):
            with hub.watching(nothing) as back:
                await hub.begin(back, after)
                assert back.is_lost == is_lost
    hub.close()


async def test_a_closed_hub_reads_no_more_though_it_was_closed_while_it_began() -> None:
    source = MadeUpChanges(1)
    hub = Hub(source, Facts(), every=0)
    with hub.watching(everything) as watcher:
        starting = asyncio.create_task(hub.begin(watcher, None))
        hub.close()
        await starting
        assert await watcher.next(patience=BOUND) is None
    await asyncio.sleep(0)
    assert source.reads == 0


class Follower:
    """Follows as a browser does: takes what comes, and comes back with the last mark when it was ended or cut off."""

    def __init__(self, hub: Hub, source: MadeUpChanges) -> None:
        self.seen: set[int] = set()
        self._hub = hub
        self._source = source
        self._mark: int | None = None
        self._watching = ExitStack()
        self._watcher: Watcher | None = None

    async def come(self) -> None:
        """Come, or come back; one who is new or lost looks at everything there is."""
        self.leave()
        self._watcher = self._watching.enter_context(self._hub.watching(everything))
        is_new = self._mark is None
        self._mark = await self._hub.begin(self._watcher, self._mark)
        if is_new or self._watcher.is_lost:
            self.seen |= {*self._source.numbers}

    async def look(self, *, share: float = 1.0) -> None:
        """Take what came: all of it, or a share before the connection breaks."""
        news = await self._watcher.next(patience=0) if self._watcher else None
        for sent in (news or [])[: round(share * len(news or []))]:
            self.seen.add(sent.change.change_id)
            self._mark = sent.mark
        if news is None or share < 1:
            await self.come()

    def leave(self) -> None:
        """Be gone for a while."""
        self._watching.close()
        self._watcher = None


class Play:
    """Two followers of a database in which numbers are committed late, reads fail and old lines are purged."""

    def __init__(self) -> None:
        self._source = MadeUpChanges(3)
        self._source.is_held = True
        self._hub = Hub(self._source, Facts(), every=0)
        self._followers = [Follower(self._hub, self._source) for _ in range(2)]
        self._next = 4
        self._late: dict[int, int] = {}

    async def over(self, steps: list[tuple[str, int]]) -> None:
        """Play the steps, let all be well again, and look at what the followers saw."""
        for follower in self._followers:
            await follower.come()
        for step, which in steps:
            await self._do(step, which)
        self._source.commit(*self._late, self._next)
        for _ in range(3):
            await self._read()
            for follower in self._followers:
                await follower.look()
        for follower in self._followers:
            assert {*self._source.numbers} <= follower.seen
        self._hub.close()

    async def _do(self, step: str, which: int) -> None:
        match step:
            case "begin":
                self._late[self._next] = PATIENCE - 2  # reads within which it ends
                self._next += 1
            case "end" if self._late:
                self._end([*self._late][which % len(self._late)])
            case "purge":
                await self._read()
                self._source.purge(up_to=self._next - which)
            case "look":
                await self._followers[which % 2].look()
            case "cut":
                await self._followers[which % 2].look(share=which / 4)
            case "leave":
                self._followers[which % 2].leave()
            case _:
                await self._read(TROUBLES.get(step))

    async def _read(self, trouble: Exception | None = None) -> None:
        self._source.trouble = trouble
        if await self._source.is_asked():
            await self._source.one_read()
        self._late = {number: left - 1 for number, left in self._late.items()}
        for number in [number for number, left in self._late.items() if left == 0]:
            self._end(number)

    def _end(self, number: int) -> None:
        del self._late[number]
        self._source.commit(number)


TROUBLES = {"away": Unavailable("away"), "broken": ZeroDivisionError()}
STEPS = ("begin", "begin", "end", "end", "purge", "read", "read", *TROUBLES, "look", "cut", "leave")


@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 3)), min_size=20, max_size=60))
def test_nobody_misses_anything_whatever_happens(steps: list[tuple[str, int]]) -> None:
    asyncio.run(Play().over(steps))
