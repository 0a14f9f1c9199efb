"""The databases that benchmarks run on: a SQLite file, or a PostgreSQL of their own on the other core."""

import atexit
import contextlib
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from machine import OTHER_CORE, family
from support.postgres import Postgres, running_postgres


class Base(msgspec.Struct):
    """One fresh, empty database."""

    url: str
    server: int | None = None

    def pids(self) -> list[int]:
        """The processes that work for it."""
        return family(self.server) if self.server else []


@contextlib.contextmanager
def database(kind: str, folder: Path) -> Iterator[Base]:
    """Give an empty database of ``kind``."""
    if kind == "sqlite":
        yield Base(f"sqlite:///{folder / 'bench.db'}")
        return
    server = _server()
    name = server.create()
    try:
        yield Base(server.url(name), server.pid)
    finally:
        server.drop(name)


@cache
def _server() -> Postgres:
    stack = contextlib.ExitStack()
    atexit.register(stack.close)
    server = stack.enter_context(running_postgres())
    for pid in family(server.pid):
        os.sched_setaffinity(pid, {OTHER_CORE})
    return server
