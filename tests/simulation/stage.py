"""What a seed is played on: one database in memory, one folder, extractors, and worlds for the processes.

The adapters are the real ones. The database is kept from seed to seed and filled anew, which is what takes
the time otherwise.
"""

import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID

from sqlalchemy import Engine

from fluxx.adapters.embedded.blobs import FolderBlobs
from fluxx.adapters.embedded.secrets import FolderSecrets
from fluxx.adapters.embedded.signing import UrlSigner
from fluxx.adapters.http.egress import EgressGuard
from fluxx.adapters.key_cache import FOLDER_LIFETIME, CachedSecrets
from fluxx.adapters.sql import migrations
from fluxx.adapters.sql.database import SqlDatabase
from fluxx.adapters.sql.engine import make_engine
from fluxx.clock import CorrectedClock
from fluxx.settings import Settings, load
from fluxx.telemetry import Fact, Facts
from fluxx.wiring import World
from simulation.extractors import PlayedExtractors
from simulation.machine import SeededMachine
from simulation.plan import Plan
from simulation.trace import Trace
from simulation.virtual_loop import Process, VirtualLoop
from simulation.watching import Watch, WatchedBus, WatchedJobs, WatchedOutbox

Variant: TypeAlias = Callable[[World], World]
"""What is handed to the service instead of a world that is whole."""

BEGINNING: Final = datetime(2026, 1, 1, tzinfo=UTC)
MEMORY: Final = Path("/dev/shm")
"""A folder without a disk behind it, where there is one."""


SUBSCRIPTIONS: Final = {"accepted-file": ["fluxx-extraction"], "job-status": ["fluxx-events"]}


class LoopClock:
    """The loop's time, ``ahead`` seconds."""

    def __init__(self, loop: VirtualLoop, ahead: float = 0.0) -> None:
        self._loop = loop
        self._ahead = ahead

    def now(self) -> datetime:
        return BEGINNING + timedelta(seconds=self._loop.time() + self._ahead)


class Stage:
    """One seed's scenery. ``told`` keeps every fact with who told it."""

    def __init__(self, plan: Plan, folder: Path, variant: Variant) -> None:
        self.plan = plan
        self.loop = VirtualLoop()
        self.clock = LoopClock(self.loop)
        self.trace = Trace(self.loop)
        self.machine = self.loop.machine = SeededMachine(self.loop, plan.chance("machine"))
        self.folder = folder
        self.engine, self.rows = _empty_database()
        self.extractors = PlayedExtractors(self.loop, self.trace, self._leads_to_a_file)
        self.broadcast: list[UUID] = []
        self.processes: list[Process] = []
        self.told: list[tuple[str, Fact, dict[str, Any]]] = []
        self._variant = variant
        self._signer = UrlSigner(b"s" * 32, "https://fluxx.test")
        self.settings = _settings(plan, folder)

    def process(self, name: str) -> Process:
        """Return a new process."""
        self.processes.append(Process(name, self.loop))
        return self.processes[-1]

    def world(self, name: str, *, ahead: float = 0.0) -> World:
        """Return a new process's world: nothing is shared but what would be shared between machines."""
        clock, facts = CorrectedClock(LoopClock(self.loop, ahead)), Facts()
        facts.listen(lambda fact, fields: self._hear(name, fact, fields))
        database = SqlDatabase(self.engine, clock=clock, facts=facts, threads=1)
        settings, watch = self.settings, Watch(self.rows, self.machine)
        return self._variant(
            World(
                settings=settings,
                clock=clock,
                facts=facts,
                chance=self.plan.chance(name),
                database=database,
                jobs=WatchedJobs(database.jobs, watch, clock),
                reader=database.reader,
                registrations=database.registrations,
                files=database.files,
                outbox=WatchedOutbox(database.outbox, watch),
                registry=database.registrations,
                bus=WatchedBus(database.bus(SUBSCRIPTIONS), watch, self.broadcast),
                blobs=FolderBlobs(self.folder / "blobs", self._signer),
                secrets=CachedSecrets(FolderSecrets(self.folder / "secrets"), lifetime=FOLDER_LIFETIME),
                extractors=self.extractors,
                egress=EgressGuard(()),
                signer=self._signer,
                retention=database.retention,
                observer=database.observer,
                changes=database.changes,
                presence=database.presence,
            )
        )

    def blob(self, path: str) -> bytes | None:
        """Return what is readable at ``path`` at this moment."""
        file = self.folder / "blobs" / path
        return file.read_bytes() if file.is_file() else None

    def blobs(self) -> dict[str, bytes]:
        """Return everything that is readable."""
        root = self.folder / "blobs"
        return {str(file.relative_to(root)): file.read_bytes() for file in root.rglob("*") if file.is_file()}

    def _hear(self, name: str, fact: Fact, fields: dict[str, Any]) -> None:
        self.told.append((name, fact, fields))
        self.trace.tell(name, fact.name, **fields)

    def _leads_to_a_file(self, url: str) -> bool:
        """Whether an extractor can fetch the file; what is kept upstream isn't ours to give."""
        if not url.startswith(self._signer.base_url):
            return True
        parts = urlsplit(url)
        file_id, query = parts.path.split("/")[2], dict(parse_qsl(parts.query))
        signed = self._signer.verify(UUID(file_id), int(query["expires"]), query["signature"], self.clock.now())
        return signed and any((self.folder / "blobs" / "files").glob(f"*/{file_id}/content"))


@contextmanager
def stage(plan: Plan, variant: Variant) -> Iterator[Stage]:
    """Set a stage up, and clear it away."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        yield Stage(plan, Path(folder), variant)


@cache
def _database() -> tuple[Engine, sqlite3.Connection, sqlite3.Connection]:
    engine = make_engine("sqlite://")
    migrations.migrate(engine)
    borrowed = engine.raw_connection()
    connection: Any = borrowed.driver_connection
    borrowed.close()
    empty = sqlite3.connect(":memory:")
    connection.backup(empty)
    return engine, connection, empty


def _empty_database() -> tuple[Engine, sqlite3.Connection]:
    engine, connection, empty = _database()
    empty.backup(connection)  # SQLite 3.40 crashes now and then where a connection that used json_each deserializes
    return engine, connection


@cache
def _defaults() -> Settings:
    return load()


def _settings(plan: Plan, folder: Path) -> Settings:
    """Return the plan's settings; to read them anew would take a tenth of the time."""
    return _defaults().model_copy(update={"fluxx_home": folder, **plan.settings})
