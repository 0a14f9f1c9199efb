"""From settings to a running service; the only file that knows which adapters exist.

``connect`` opens what the settings name; ``service`` turns roles into parts for the supervisor.
"""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

import msgspec

from fluxx.clock import Clock
from fluxx.ports.blobs import Blobs
from fluxx.ports.bus import Bus
from fluxx.ports.extractor import ExtractorClient
from fluxx.ports.jobs import JobReader, JobStore
from fluxx.ports.outbox import Outbox
from fluxx.ports.registrations import FileStore, RegistrationStore, Registry
from fluxx.ports.secrets import Secrets
from fluxx.settings import Settings
from fluxx.telemetry import Facts


class Database(JobStore, JobReader, RegistrationStore, FileStore, Outbox, Protocol):
    """Everything the database promises, from one adapter."""


class World(msgspec.Struct, frozen=True, kw_only=True):
    """The outside world as the settings describe it: one adapter for each port."""

    settings: Settings
    clock: Clock
    facts: Facts
    chance: random.Random
    database: Database
    registry: Registry
    bus: Bus
    blobs: Blobs
    secrets: Secrets
    extractors: ExtractorClient


@asynccontextmanager
async def connect(settings: Settings, *, facts: Facts, clock: Clock, chance: random.Random) -> AsyncIterator[World]:
    """Open the adapters that the settings name, in order; close them in reverse.

    Raises ``Misconfigured`` where a setting names something that can't be.
    """
    raise NotImplementedError
    yield
