"""One reader for all who watch; who comes back is brought up to date, who is too slow is dropped.

That nobody misses anything is in ``test_live_hub_misses_nothing``.
"""

import asyncio
from contextlib import ExitStack

from fluxx.api.live_hub import KEPT_AT_START, ROOM, Hub
from fluxx.telemetry import WATCHER_DROPPED, Facts
from support.changes import MadeUpChanges, taken
from support.facts import BOUND, FactsHeard

QUICK = 0.01


async def test_two_hundred_watchers_cost_the_reads_of_one() -> None:
    source = MadeUpChanges(3)
    hub = Hub(source, Facts(), every=QUICK)
    with ExitStack() as stack:
        watchers = [stack.enter_context(hub.watching(lambda _: True)) for _ in range(200)]
        for watcher in watchers:
            assert await hub.begin(watcher, None) == 3
        for _ in range(5):
            source.add(2)
            before = source.reads
            last = source.numbers[-1]
            seen = await asyncio.gather(*(taken(watcher, 2) for watcher in watchers))
            assert seen == [[last - 1, last]] * 200
            assert source.reads - before <= 3
    hub.close()


async def test_who_comes_back_gets_what_came_meanwhile_and_who_was_away_too_long_is_told() -> None:
    source = MadeUpChanges(KEPT_AT_START + 50)
    hub = Hub(source, Facts(), every=QUICK)
    for after, is_lost in ((KEPT_AT_START + 40, False), (50, False), (49, True)):
        with hub.watching(lambda _: True) as watcher:
            mark = await hub.begin(watcher, after)
            assert watcher.is_lost == is_lost
            assert mark == (source.numbers[-1] if is_lost else after)
            if not is_lost:
                assert (await taken(watcher, source.numbers[-1] - after))[0] == after + 1
    hub.close()


async def test_a_slow_reader_is_dropped_and_holds_up_nobody() -> None:
    facts = Facts()
    heard = FactsHeard(facts)
    source = MadeUpChanges(0)
    hub = Hub(source, facts, every=QUICK)
    with hub.watching(lambda _: True) as slow, hub.watching(lambda _: True) as quick:
        for watcher in (slow, quick):
            await hub.begin(watcher, None)
        source.add(ROOM)
        await taken(quick, ROOM)
        source.add(1)
        await heard.wait_for(WATCHER_DROPPED)
        assert await taken(quick, 1) == [ROOM + 1]
        assert await slow.next(patience=BOUND) is None
    hub.close()


async def test_a_closed_hub_ends_those_who_watch_and_those_who_come() -> None:
    hub = Hub(MadeUpChanges(1), Facts(), every=QUICK)
    with hub.watching(lambda _: True) as watcher:
        await hub.begin(watcher, None)
        hub.close()
        assert await watcher.next(patience=BOUND) is None
    with hub.watching(lambda _: True) as late:
        assert await late.next(patience=BOUND) is None


async def test_silence_is_an_empty_answer() -> None:
    hub = Hub(MadeUpChanges(1), Facts(), every=QUICK)
    with hub.watching(lambda _: True) as watcher:
        await hub.begin(watcher, None)
        assert await watcher.next(patience=QUICK) == []
    hub.close()
