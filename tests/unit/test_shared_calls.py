"""Callers that want the same thing at the same time share one call; nothing of it is kept for later."""

import asyncio

import pytest

from fluxx.adapters.shared_calls import SharedCalls
from fluxx.errors import Unavailable


class Calls:
    """Answers with the number of the call, once it is let go."""

    def __init__(self) -> None:
        self.count = 0
        self.begun = asyncio.Event()
        self.let_go = asyncio.Event()
        self.failure: Exception | None = None

    async def __call__(self, asked: str) -> str:
        self.count += 1
        number = self.count
        self.begun.set()
        await self.let_go.wait()
        if self.failure:
            raise self.failure
        return f"{asked} {number}"


async def test_one_call_answers_all_who_ask_meanwhile() -> None:
    calls = Calls()
    calls.let_go.set()
    shared = SharedCalls(calls)
    assert await asyncio.gather(*(shared.get("a") for _ in range(5)), shared.get("b")) == ["a 1"] * 5 + ["b 2"]
    assert await shared.get("a") == "a 3"


async def test_all_share_a_failure_and_the_next_one_asks_again() -> None:
    calls = Calls()
    calls.failure = Unavailable("away")
    calls.let_go.set()
    shared = SharedCalls(calls)
    ends = await asyncio.gather(*(shared.get("a") for _ in range(5)), return_exceptions=True)
    assert ends == [calls.failure] * 5
    calls.failure = None
    assert await shared.get("a") == "a 2"


async def test_one_who_gives_up_takes_the_call_from_nobody() -> None:
    calls = Calls()
    shared = SharedCalls(calls)
    patient, impatient = (asyncio.create_task(shared.get("a")) for _ in range(2))
    await calls.begun.wait()
    impatient.cancel()
    with pytest.raises(asyncio.CancelledError):
        await impatient
    calls.let_go.set()
    assert await patient == "a 1"


async def test_after_forgetting_nobody_joins_the_old_call() -> None:
    calls = Calls()
    shared = SharedCalls(calls)
    old = asyncio.create_task(shared.get("a"))
    await calls.begun.wait()
    shared.forget("a")
    calls.begun.clear()
    new = asyncio.create_task(shared.get("a"))
    await calls.begun.wait()
    calls.let_go.set()
    assert [await old, await new] == ["a 1", "a 2"]
