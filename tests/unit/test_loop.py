"""The loop driver: when it steps, and when it doesn't."""

import asyncio
from itertools import pairwise

from fluxx.errors import Unavailable
from fluxx.loops.loop import Loop
from fluxx.telemetry import LOOP_FAILED, Facts
from support.facts import FactsHeard

TRIES = 4


async def test_news_ends_a_rest() -> None:
    steps: list[int] = []
    twice = asyncio.Event()

    async def step() -> float:
        steps.append(len(steps))
        if len(steps) > 1:
            twice.set()
        return 3600.0

    loop = Loop("news", step, Facts())
    running = asyncio.create_task(loop.run())
    await asyncio.sleep(0)
    loop.wake()
    async with asyncio.timeout(60):
        await twice.wait()
        loop.stop()
        await running
    assert len(steps) == 2


async def test_news_is_no_reason_to_try_sooner_after_a_failure() -> None:
    facts = Facts()
    heard = FactsHeard(facts)
    tried_at: list[float] = []

    async def step() -> float:
        tried_at.append(asyncio.get_running_loop().time())
        raise Unavailable("away")

    loop = Loop("failing", step, facts)
    facts.listen(lambda *_: asyncio.get_running_loop().call_soon(loop.wake))
    running = asyncio.create_task(loop.run())
    await heard.wait_for(LOOP_FAILED, TRIES)
    loop.stop()
    await running
    rests = [later - earlier for earlier, later in pairwise(tried_at)]
    assert len(tried_at) == TRIES
    assert all(rest > 0.09 * 2**number for number, rest in enumerate(rests, 1))
