"""Calls to bus, storage and vault are timed, by how they ended, and are otherwise the adapter's own."""

import asyncio
from collections.abc import Sequence

import pytest

from fluxx.adapters.measuring import measured
from fluxx.errors import Unavailable
from fluxx.telemetry import Facts


class Adapter:
    """Answers, refuses or hangs, as the call's name says."""

    async def publish(self, topic: str, messages: Sequence[str] = ()) -> tuple[str, Sequence[str]]:
        return topic, messages

    async def write(self, path: str) -> None:
        raise Unavailable(path)

    async def delete(self, path: str) -> None:
        raise OSError(path)

    async def api_key(self) -> None:
        await asyncio.Event().wait()

    def subscription(self, _topic: str) -> "Adapter":
        return self

    def check(self) -> str:
        return "as it is"


def seen(facts: Facts, call: str, outcome: str) -> float | None:
    labels = {"part": "bus", "call": call, "outcome": outcome}
    return facts.registry.get_sample_value("fluxx_call_seconds_count", labels)


async def test_a_call_is_timed_and_gives_what_the_adapter_gives() -> None:
    facts = Facts()
    adapter = measured(Adapter(), "bus", facts)
    assert await adapter.publish("topic", messages=["one"]) == ("topic", ["one"])
    assert await adapter.subscription("topic").publish("topic") == ("topic", ())
    assert adapter.check() == "as it is"
    assert seen(facts, "publish", "ok") == 2


@pytest.mark.parametrize(("call", "error"), [("write", Unavailable), ("delete", OSError)])
async def test_a_call_that_fails_is_told_by_its_error(call: str, error: type[Exception]) -> None:
    facts = Facts()
    with pytest.raises(error):
        await getattr(measured(Adapter(), "bus", facts), call)("a path")
    assert (seen(facts, call, error.__name__), seen(facts, call, "ok")) == (1, None)


async def test_a_call_that_is_given_up_did_not_end_well() -> None:
    facts = Facts()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await measured(Adapter(), "bus", facts).api_key()
    assert (seen(facts, "api_key", "CancelledError"), seen(facts, "api_key", "ok")) == (1, None)
