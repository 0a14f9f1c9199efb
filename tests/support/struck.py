"""A service in a process of its own that strikes itself down when it reaches a named point.

Processes are forked from one that has imported everything, so that a start takes no time. What such a
process tells is a file of lines (``fact name {fields}``) that tests wait for.
"""

import asyncio
import multiprocessing
import os
import random
import signal
import threading
from collections.abc import Mapping
from contextlib import AsyncExitStack
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from fluxx import settings as settings_module
from fluxx import wiring
from fluxx.clock import SystemClock
from fluxx.roles import ALL_ROLES, Roles
from fluxx.running import Service
from fluxx.telemetry import SERVICE_READY, Fact, Facts
from support.eventually import eventually
from support.points import with_points
from support.strikes import Once

BOUND = 150.0
"""Seconds: many of them run at once, on a machine that may be busy."""
PRELOADED = ["fluxx.running", "httpx"]
"""What takes time to import; the server of forks doesn't find the tests' own modules."""
NOWHERE = ""
STRUCK = "struck"
STRIKE_NOW = signal.SIGUSR1
"""Tells a process that it has reached its point, where that lies with the extractor."""


class StruckProcess:
    """A service over ``home``; reaching ``point`` it sends itself ``strike``, the first time only."""

    def __init__(
        self,
        home: Path,
        *,
        roles: Roles = ALL_ROLES,
        point: str = NOWHERE,
        strike: signal.Signals = signal.SIGKILL,
        **overrides: Any,
    ) -> None:
        self.url = ""
        self._log = home.parent / f"{home.name}-{random.randrange(2**32)}.log"
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(PRELOADED)
        settings = {"fluxx_home": str(home), **overrides}
        self._process: ForkServerProcess = context.Process(
            target=run, args=(settings, roles, str(self._log), point, strike), daemon=True
        )

    async def __aenter__(self) -> Self:
        self._process.start()
        self.url = (await self.told(SERVICE_READY.name)).partition("'url': '")[2].partition("'")[0]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.is_alive():
            self.send(signal.SIGCONT)
            self.send(signal.SIGTERM if kind is None else signal.SIGKILL)
        await self.ended()

    @property
    def pid(self) -> int:
        """The process's id."""
        assert self._process.pid
        return self._process.pid

    def send(self, sign: signal.Signals) -> None:
        """Send the process a signal."""
        os.kill(self.pid, sign)

    async def told(self, words: str, *, beyond: int = 0) -> str:
        """Return the first line (after ``beyond`` others) that holds these words, once it is there."""

        async def look() -> str | None:
            found = next((line for line in self.lines()[beyond:] if words in line), None)
            assert found or self._process.is_alive(), f"ended with {self._process.exitcode} before it told {words!r}"
            return found

        return await eventually(look, bound=BOUND)

    def lines(self) -> list[str]:
        """Everything told so far."""
        return self._log.read_text().splitlines() if self._log.exists() else []

    async def ended(self) -> None:
        """Wait until it is no more."""

        async def look() -> bool:
            return not self._process.is_alive()

        await eventually(look, bound=BOUND)

    def client(self) -> httpx.AsyncClient:
        """Return an HTTP client for its API."""
        return httpx.AsyncClient(base_url=self.url, timeout=BOUND)


def run(settings: Mapping[str, Any], roles: Roles, log: str, point: str, strike: signal.Signals) -> None:
    """Be the process."""
    asyncio.run(_served(settings, roles, Path(log), point, strike))


async def _served(overrides: Mapping[str, Any], roles: Roles, log: Path, point: str, strike: signal.Signals) -> None:
    async with AsyncExitStack() as stack:
        told = stack.enter_context(log.open("a", buffering=1))
        facts = Facts()

        def tell(fact: Fact, fields: Mapping[str, Any]) -> None:
            told.write(f"{fact.name} { {name: str(value) for name, value in fields.items()} }\n")

        facts.listen(tell)
        settings = settings_module.load(**overrides)
        world = await stack.enter_async_context(
            wiring.connect(settings, facts=facts, clock=SystemClock(), chance=random.Random(1))
        )

        async def struck() -> None:
            told.write(f"{STRUCK}\n")
            # On the thread that writes: whoever is frozen in a transaction would lock a SQLite file for everybody.
            writers = world.database._connections._writers
            await asyncio.get_running_loop().run_in_executor(writers, _strike, strike)

        once = Once(point, struck)
        service = Service(with_points(world, once.reached), roles=roles, host="127.0.0.1", port=0)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, service.stop)
        loop.add_signal_handler(STRIKE_NOW, lambda: loop.create_task(once.reached(point)))
        await service.run()


def _strike(strike: signal.Signals) -> None:
    """Hit this very thread: if another one took the signal, this one would go on until then."""
    signal.pthread_kill(threading.get_ident(), strike)
