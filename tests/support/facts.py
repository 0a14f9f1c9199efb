"""Waiting for facts: what tests do instead of sleeping."""

import asyncio
from collections.abc import Callable
from typing import Any

from fluxx.telemetry import Fact, Facts

BOUND = 60.0
"""Seconds after which a fact that doesn't come fails the test."""


class FactsHeard:
    """Remembers every fact that ``facts`` tells, and waits for those to come."""

    def __init__(self, facts: Facts) -> None:
        self.all: list[tuple[Fact, dict[str, Any]]] = []
        self._waiting: list[tuple[Callable[[], bool], asyncio.Event]] = []
        facts.listen(self._hear)

    def of(self, fact: Fact) -> list[dict[str, Any]]:
        """The fields of each telling of ``fact`` so far."""
        return [fields for told, fields in self.all if told is fact]

    async def wait_for(self, fact: Fact, times: int = 1, **fields: Any) -> list[dict[str, Any]]:
        """Wait until ``fact`` was told ``times`` times with these fields; return them."""

        def matching() -> list[dict[str, Any]]:
            return [told for told in self.of(fact) if fields.items() <= told.items()]

        await self._until(lambda: len(matching()) >= times, f"{times} x {fact.name} {fields}")
        return matching()

    async def wait_for_any(self, *facts: Fact, times: int = 1) -> None:
        """Wait until the facts were told ``times`` times altogether."""
        await self._until(
            lambda: sum(told in facts for told, _ in self.all) >= times, f"{times} x {[fact.name for fact in facts]}"
        )

    async def news(self, *, beyond: int) -> None:
        """Wait until more than ``beyond`` facts were told."""
        await self._until(lambda: len(self.all) > beyond, f"fact number {beyond + 1}")

    async def _until(self, condition: Callable[[], bool], what: str) -> None:
        if condition():
            return
        event = asyncio.Event()
        self._waiting.append((condition, event))
        try:
            async with asyncio.timeout(BOUND):
                await event.wait()
        except TimeoutError:
            told = "\n".join(f"  {fact.name} {fields}" for fact, fields in self.all[-30:])
            raise AssertionError(f"waited {BOUND:g} s for {what}; told were:\n{told}") from None

    def _hear(self, fact: Fact, fields: dict[str, Any]) -> None:
        self.all.append((fact, fields))
        for condition, event in self._waiting:
            if condition():
                event.set()
