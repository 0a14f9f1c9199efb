"""What is asked for at the same time is done together, and what is given up before its turn isn't done at all."""

import asyncio
from collections.abc import Sequence

import pytest

from fluxx.loops.gathering import Gatherer


class Groups:
    """Doubles numbers, once it is let go; a negative one spoils its group."""

    def __init__(self) -> None:
        self.seen: list[list[int]] = []
        self.let_go = asyncio.Event()
        self.let_go.set()

    async def __call__(self, group: Sequence[int]) -> Sequence[int]:
        self.seen.append(list(group))
        await self.let_go.wait()
        if min(group) < 0:
            raise ValueError(min(group))
        return [2 * number for number in group]


async def test_what_is_added_at_the_same_time_is_one_group_and_each_gets_its_own() -> None:
    groups = Groups()
    gatherer = Gatherer(groups, limit=3)
    assert await asyncio.gather(*map(gatherer.add, range(4))) == [0, 2, 4, 6]
    assert groups.seen == [[0, 1, 2], [3]]


async def test_a_bad_one_spoils_nothing_but_itself() -> None:
    groups = Groups()
    results = await asyncio.gather(*map(Gatherer(groups, limit=9).add, [1, -1, 2]), return_exceptions=True)
    assert [repr(result) for result in results] == ["2", "ValueError(-1)", "4"]
    assert groups.seen == [[1, -1, 2], [1], [-1], [2]]


async def test_what_is_given_up_before_its_turn_is_not_done() -> None:
    groups = Groups()
    gatherer = Gatherer(groups, limit=9)
    groups.let_go.clear()
    first = asyncio.ensure_future(gatherer.add(1))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    second, third = gatherer.add(2), gatherer.add(3)
    second.cancel()
    groups.let_go.set()
    assert await asyncio.gather(first, third) == [2, 6]
    assert groups.seen == [[1], [3]]


@pytest.mark.parametrize("waiting", [0, 1])
async def test_groups_rest_between_them_only_while_more_is_waiting(waiting: int) -> None:
    groups, loop = Groups(), asyncio.get_running_loop()
    gatherer = Gatherer(groups, limit=1, rest=0.2)
    began = loop.time()
    await asyncio.gather(*map(gatherer.add, range(1 + waiting)))
    assert (loop.time() - began >= 0.19) == bool(waiting)


async def test_where_the_work_was_closed_nobody_waits_on() -> None:
    async def closed(_: Sequence[int]) -> Sequence[int]:
        raise asyncio.CancelledError

    answers = await asyncio.gather(*map(Gatherer(closed, limit=2).add, range(3)), return_exceptions=True)
    assert [type(answer) for answer in answers] == [asyncio.CancelledError] * 3
