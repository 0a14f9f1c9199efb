"""Things asked for at the same time are done together: one transaction for many writes, one query for many ids.

Whatever gathers while a group is being dealt with forms the next one, so groups grow with the load
and a lone caller waits for nobody. The store's committer is one; the extraction's catalogue another.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from fluxx.errors import Unavailable

T = TypeVar("T")
R = TypeVar("R")


class Gatherer(Generic[T, R]):
    """Hands items to ``work`` in groups of at most ``limit``; each caller gets its own result.

    Under load ``rest`` seconds pass from one group to the next, so that they grow; a lone caller doesn't wait for them.
    A group that fails for a reason of one item is tried again item by item, so that only the
    caller of the bad one sees the error. What its caller gave up before its turn came is not done.
    """

    def __init__(self, work: Callable[[Sequence[T]], Awaitable[Sequence[R]]], *, limit: int, rest: float = 0.0) -> None:
        self._work = work
        self._limit = limit
        self._rest = rest
        self._waiting: deque[tuple[T, asyncio.Future[R]]] = deque()
        self._working: asyncio.Task[None] | None = None

    def add(self, item: T) -> asyncio.Future[R]:
        """Let ``item`` be dealt with together with whatever else is waiting; await what becomes of it."""
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._working is None:
            self._working = asyncio.create_task(self._work_off(), name="gatherer")
        return future

    async def _work_off(self) -> None:
        await asyncio.sleep(0)
        loop = asyncio.get_running_loop()
        group: list[tuple[T, asyncio.Future[R]]] = []
        try:
            while self._waiting:
                next_at = loop.time() + self._rest
                group = [self._waiting.popleft() for _ in range(min(self._limit, len(self._waiting)))]
                await self._do_together([member for member in group if not member[1].done()])
                if self._waiting and (rest := next_at - loop.time()) > 0:
                    await asyncio.sleep(rest)
        except asyncio.CancelledError:  # what does the work was closed: nobody may wait for it
            for _, future in (*group, *self._waiting):
                future.cancel()
            self._waiting.clear()
            raise
        finally:
            self._working = None

    async def _do_together(self, group: Sequence[tuple[T, asyncio.Future[R]]]) -> None:
        if not group:
            return
        try:
            results = await self._work([item for item, _ in group])
        except Unavailable as error:
            _fail(group, error)
        except Exception as error:  # noqa: BLE001 - it belongs to the callers, one of whom raises it
            await self._do_singly(group, error)
        else:
            for (_, future), result in zip(group, results, strict=True):
                if not future.done():
                    future.set_result(result)

    async def _do_singly(self, group: Sequence[tuple[T, asyncio.Future[R]]], error: Exception) -> None:
        if len(group) == 1:
            _fail(group, error)
            return
        for member in group:
            await self._do_together([member])


def _fail(group: Sequence[tuple[T, asyncio.Future[R]]], error: Exception) -> None:
    for _, future in group:
        if not future.done():
            future.set_exception(error)
