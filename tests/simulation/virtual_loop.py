"""An event loop whose time jumps to what comes next, and processes on it that can be frozen and killed.

Threads don't exist here: what is handed to an executor is done by a ``Machine``, whole and at one moment,
some virtual time later. A process is whatever was started in its context; a frozen one keeps what
would have run, a killed one never runs again. Things outside of all processes just go on.
"""

import asyncio
import heapq
from asyncio import events
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from itertools import count
from typing import Any, Protocol, TypeAlias, TypeVar

T = TypeVar("T")
Work: TypeAlias = Callable[[], Any]


class Stuck(Exception):
    """Nothing is left that could ever happen, but somebody still waits."""


class Machine(Protocol):
    """Disks, databases and the threads in front of them."""

    def handle(self, work: Work, future: "asyncio.Future[Any]", arguments: tuple[Any, ...]) -> None:
        """Do ``work`` at some time and settle ``future``, or let it fail."""
        ...


class Process:
    """What lives and dies together. ``steps`` counts what it has run; a ``fuse`` burns at that many."""

    def __init__(self, name: str, loop: "VirtualLoop") -> None:
        self.name = name
        self.alive = True
        self.frozen = False
        self.steps = 0
        self.tasks: list[asyncio.Task[Any]] = []
        self._loop = loop
        self._context = Context()
        self._context.run(_process.set, self)
        self._held: list[asyncio.Handle] = []
        self._fuse: tuple[int, Callable[[], None]] | None = None

    def start(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        """Run ``work`` in this process."""
        return self._loop.create_task(work, context=self._context.copy())

    def light(self, steps: int, burnt: Callable[[], None]) -> None:
        """Call ``burnt`` in the middle of whatever is being done ``steps`` steps from now."""
        self._fuse = (self.steps + steps, burnt)

    def douse(self) -> None:
        """Put the fuse out."""
        self._fuse = None

    def kill(self) -> None:
        """End it as a power cut would: nothing of it runs any more."""
        self.alive = False

    def freeze(self) -> None:
        """Stop it as SIGSTOP would: it notices nothing until it thaws, and then everything at once."""
        self.frozen = True

    def thaw(self) -> None:
        """Let it go on."""
        self.frozen = False
        self._loop.again(self._held)
        self._held = []

    def takes(self, handle: asyncio.Handle) -> bool:
        """Whether the handle is to be run now; otherwise it is kept."""
        if self._runs():
            self.steps += 1
            if self._fuse is not None and self.steps >= self._fuse[0]:
                burnt, self._fuse = self._fuse[1], None
                burnt()
        if self._runs():
            return True
        self._held.append(handle)
        return False

    def _runs(self) -> bool:
        return self.alive and not self.frozen

    def bury(self) -> None:
        """Let what is left of it end orderly, after everything was looked at."""
        self.alive = True
        for task in self.tasks:
            task.cancel()
        self.thaw()


_process: ContextVar[Process | None] = ContextVar("process", default=None)


class VirtualLoop(asyncio.AbstractEventLoop):
    """First come, first served at each moment; then time jumps. ``machine`` must be set before work comes."""

    machine: Machine

    def __init__(self) -> None:
        self._now = 0.0
        self._ready: deque[asyncio.Handle] = deque()
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._numbers = count()

    def time(self) -> float:
        return self._now

    def run_until_complete(self, future: Coroutine[Any, Any, T]) -> T:  # type: ignore[override]
        events._set_running_loop(self)
        try:
            task = self.create_task(future)
            while not task.done():
                self._run_next()
            return task.result()
        finally:
            events._set_running_loop(None)

    def again(self, handles: list[asyncio.Handle]) -> None:
        """Queue what was held."""
        self._ready.extend(handles)

    def outside(self, delay: float, callback: Callable[..., object], *arguments: Any) -> None:
        """Call back after ``delay`` seconds, whatever becomes of the process that asks for it."""
        self.call_later(delay, callback, *arguments, context=Context())

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        heapq.heappush(self._timers, (when, next(self._numbers), handle))
        return handle

    def create_future(self) -> "asyncio.Future[Any]":
        return asyncio.Future(loop=self)

    def create_task(  # type: ignore[override]
        self, coro: Coroutine[Any, Any, T], *, name: str | None = None, context: Context | None = None
    ) -> "asyncio.Task[T]":
        task = asyncio.Task(coro, loop=self, name=name, context=context)
        process = (context or copy_context()).get(_process)
        if process is not None:
            process.tasks.append(task)
        return task

    def run_in_executor(self, _executor: Any, func: Callable[..., T], *args: Any) -> "asyncio.Future[T]":  # type: ignore[override]
        future = self.create_future()
        self.machine.handle(lambda: func(*args), future, args)
        return future

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """A task that nobody asks about any more belongs to a process that was killed."""
        if "exception" in context and "never retrieved" not in context["message"]:
            raise context["exception"]

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """It is passed over when its time comes."""

    def _run_next(self) -> None:
        while not self._ready:
            if not self._timers:
                raise Stuck
            when, _, timer = heapq.heappop(self._timers)
            if not timer.cancelled():
                self._now = max(self._now, when)
                self._ready.append(timer)
        handle = self._ready.popleft()
        if handle.cancelled():
            return
        process = handle._context.get(_process)  # type: ignore[attr-defined]
        if process is None or process.takes(handle):
            handle._run()
