"""Disks and databases: they take their time, fail by chance, and are away for a while where the plan says so.

Work fails in two ways: it was not done, or it was done and the answer got lost.
"""

import asyncio
import errno
import random
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from sqlalchemy import Engine

from fluxx.errors import Unavailable
from simulation.virtual_loop import VirtualLoop, Work

Part: TypeAlias = Literal["database", "disk"]
Settle: TypeAlias = Callable[[Any], None]


class SeededMachine:
    """``errors`` is the share of calls that fail, ``slow`` of those that take up to a second.

    ``away`` holds what can't be reached; ``committed`` is called after everything done in the database.
    """

    def __init__(self, loop: VirtualLoop, chance: random.Random) -> None:
        self.errors = 0.0
        self.slow = 0.0
        self.away: set[Part] = set()
        self.committed: Callable[[], None] = lambda: None
        self._loop = loop
        self._chance = chance

    def handle(self, work: Work, future: "asyncio.Future[Any]", arguments: tuple[Any, ...]) -> None:
        """See ``Machine.handle``."""
        part: Part = "database" if arguments and isinstance(arguments[0], Engine) else "disk"
        self._loop.outside(self._time(), self._do, work, future, part)

    def _time(self) -> float:
        return self._chance.uniform(0.0005, 1.0 if self._chance.random() < self.slow else 0.01)

    def _do(self, work: Work, future: "asyncio.Future[Any]", part: Part) -> None:
        if future.cancelled() and self._chance.random() < 0.5:
            return  # nobody had begun with it yet
        fails = self._chance.random() < self.errors
        if part in self.away or (fails and self._chance.random() < 0.5):
            self._answer(future, future.set_exception, _trouble(part))
            return
        try:
            result = work()
        except Exception as error:  # noqa: BLE001 - it belongs to whoever waits
            self._answer(future, future.set_exception, error)
            return
        if part == "database":
            self.committed()
        if fails:
            self._answer(future, future.set_exception, _trouble(part))
        else:
            self._answer(future, future.set_result, result)

    def _answer(self, future: "asyncio.Future[Any]", settle: Settle, value: Any) -> None:
        self._loop.outside(self._time() / 2, lambda: None if future.done() else settle(value))


def _trouble(part: Part) -> Exception:
    if part == "database":
        return Unavailable("The database doesn't answer as it should: made up.")
    return OSError(errno.EIO, "made up")
