"""Callers that want the same thing at the same moment share one call for it, and its failure too.

Without this, a hundred jobs waiting for one key from a server that is away would ask it one by one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

Asked = TypeVar("Asked", bound=Hashable)
Answer = TypeVar("Answer")


class SharedCalls(Generic[Asked, Answer]):
    """Makes ``call(asked)`` once for all who ask while it is under way."""

    def __init__(self, call: Callable[[Asked], Awaitable[Answer]]) -> None:
        self._call = call
        self._under_way: dict[Asked, asyncio.Task[Answer]] = {}

    async def get(self, asked: Asked) -> Answer:
        """Return what the call returns, or raise what it raises."""
        task = self._under_way.get(asked)
        if task is None:
            task = asyncio.create_task(self._called(asked))
            self._under_way[asked] = task
            task.add_done_callback(lambda done: self._done(asked, done))
        # Shielded: one caller that gives up must not take the call away from the others.
        return await asyncio.shield(task)

    def forget(self, asked: Asked) -> None:
        """Let whoever asks from now on not join a call that is under way."""
        self._under_way.pop(asked, None)

    async def _called(self, asked: Asked) -> Answer:
        return await self._call(asked)

    def _done(self, asked: Asked, task: "asyncio.Task[Answer]") -> None:
        if self._under_way.get(asked) is task:
            del self._under_way[asked]
        if not task.cancelled():
            task.exception()  # seen here, for the case that every caller gave up
