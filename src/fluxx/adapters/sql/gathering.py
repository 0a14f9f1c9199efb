"""The committer: writes asked for at the same time share one transaction.

Whatever gathers while a group is being written forms the next one, so groups grow with the load
and a lone write waits for nobody.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from fluxx.errors import Unavailable

T = TypeVar("T")
R = TypeVar("R")


class Gatherer(Generic[T, R]):
    """Hands items to ``write`` in groups of at most ``limit``; each caller gets its own result.

    A group that fails for a reason of one item is written again item by item, so that only the
    caller of the bad one sees the error.
    """

    def __init__(self, write: Callable[[Sequence[T]], Awaitable[Sequence[R]]], *, limit: int) -> None:
        self._write = write
        self._limit = limit
        self._waiting: deque[tuple[T, asyncio.Future[R]]] = deque()
        self._writing: asyncio.Task[None] | None = None

    async def add(self, item: T) -> R:
        """Write ``item`` with whatever else is waiting, and return what became of it."""
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_all(), name="committer")
        return await future

    async def _write_all(self) -> None:
        await asyncio.sleep(0)
        try:
            while self._waiting:
                group = [self._waiting.popleft() for _ in range(min(self._limit, len(self._waiting)))]
                await self._write_group(group)
        finally:
            self._writing = None

    async def _write_group(self, group: Sequence[tuple[T, asyncio.Future[R]]]) -> None:
        try:
            results = await self._write([item for item, _ in group])
        except Unavailable as error:
            _fail(group, error)
        except Exception as error:  # noqa: BLE001 - it belongs to the callers, one of whom raises it
            await self._write_singly(group, error)
        else:
            for (_, future), result in zip(group, results, strict=True):
                if not future.done():
                    future.set_result(result)

    async def _write_singly(self, group: Sequence[tuple[T, asyncio.Future[R]]], error: Exception) -> None:
        if len(group) == 1:
            _fail(group, error)
            return
        for member in group:
            await self._write_group([member])


def _fail(group: Sequence[tuple[T, asyncio.Future[R]]], error: Exception) -> None:
    for _, future in group:
        if not future.done():
            future.set_exception(error)
