"""From settings to the world outside; the only file, with ``running``, that knows which adapters exist.

Which adapter is used follows from what is configured; there is no mode to choose.
"""

import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Final

import msgspec
from sqlalchemy import Engine

from fluxx.adapters.embedded.blobs import FolderBlobs
from fluxx.adapters.embedded.secrets import FolderSecrets
from fluxx.adapters.embedded.signing import UrlSigner, load_or_make_key
from fluxx.adapters.http.client import HttpExtractorClient
from fluxx.adapters.http.egress import EgressGuard
from fluxx.adapters.http.registry import HttpRegistry
from fluxx.adapters.key_cache import FOLDER_LIFETIME, VAULT_LIFETIME, CachedSecrets
from fluxx.adapters.measuring import measured
from fluxx.adapters.sql import migrations
from fluxx.adapters.sql.database import SqlDatabase
from fluxx.adapters.sql.engine import make_engine
from fluxx.clock import Clock, CorrectedClock
from fluxx.errors import Misconfigured
from fluxx.extraction.intervention import Intervention
from fluxx.intake.uploading import Uploading
from fluxx.ports.blobs import Blobs
from fluxx.ports.bus import Bus
from fluxx.ports.changes import Changes
from fluxx.ports.extractor import EgressRules, ExtractorClient
from fluxx.ports.jobs import JobReader, JobStore
from fluxx.ports.observing import Observer
from fluxx.ports.outbox import Outbox
from fluxx.ports.presence import Presence
from fluxx.ports.registrations import FileStore, RegistrationStore, Registry
from fluxx.ports.retention import Retention
from fluxx.ports.secrets import ApiKey, Secrets
from fluxx.registration.registering import Registering
from fluxx.roles import Roles
from fluxx.settings import Settings
from fluxx.telemetry import Facts
from fluxx.tracing import NoTracing, Tracing
from fluxx.upkeep.purge import Purge
from fluxx.upkeep.timekeeping import Timekeeping
from fluxx.wiring_home import EMBEDDED_DATABASE, home, own_home

if TYPE_CHECKING:
    from fluxx.wiring_azure import Azure

SQL_THREADS: Final = 8
"""Threads on which one process asks the database."""
SQL_CONNECTIONS: Final = SQL_THREADS + 1
"""One for each, and one for the thread that writes where the database is a SQLite file."""


class World(msgspec.Struct, frozen=True, kw_only=True):
    """The outside world as the settings describe it: what keeps each port's promise."""

    settings: Settings
    clock: CorrectedClock
    facts: Facts
    chance: random.Random
    database: SqlDatabase
    jobs: JobStore
    reader: JobReader
    registrations: RegistrationStore
    files: FileStore
    outbox: Outbox
    registry: Registry
    bus: Bus
    blobs: Blobs
    secrets: Secrets
    extractors: ExtractorClient
    egress: EgressRules
    signer: UrlSigner | None
    retention: Retention
    observer: Observer
    changes: Changes
    presence: Presence


@asynccontextmanager
async def connect(
    settings: Settings, *, facts: Facts, clock: Clock, chance: random.Random, roles: Roles | None = None
) -> AsyncIterator[World]:
    """Open the adapters that the settings name, with the database ready (``prepare``); close them in reverse.

    Their checks look for what ``roles`` use and have the rights for; without roles, for everything.
    """
    async with assembled(settings, facts=facts, clock=clock, chance=chance, roles=roles) as world:
        await prepare(world)
        yield world


async def prepare(world: World) -> None:
    """Bring an embedded database up to date, refuse another one that isn't, and hold the clock to it.

    Raises ``Misconfigured``, which says what to run, or ``Unavailable``.
    """
    ready = migrations.migrate if world.settings.database_url is None else migrations.check
    ready(world.database.engine)
    # Before anything is claimed: a clock that is ahead would take the jobs of others for abandoned.
    world.clock.offset += await world.database.offset_of(world.clock)


@asynccontextmanager
async def assembled(
    settings: Settings, *, facts: Facts, clock: Clock, chance: random.Random, roles: Roles | None = None
) -> AsyncIterator[World]:
    """Make the adapters that the settings name, without asking any of them; close them in reverse."""
    signer = _signer(settings)
    corrected = CorrectedClock(clock)
    async with AsyncExitStack() as stack:
        database = SqlDatabase(open_database(settings), clock=corrected, facts=facts, threads=SQL_THREADS)
        stack.push_async_callback(database.close)
        choice = _Choice(settings, stack, clock=corrected, facts=facts, roles=roles)
        extractors = HttpExtractorClient(
            allowed_networks=settings.egress_allowed_networks, max_connections=settings.max_concurrency
        )
        stack.push_async_callback(extractors.close)
        yield World(
            settings=settings,
            clock=corrected,
            facts=facts,
            chance=chance,
            database=database,
            jobs=database.jobs,
            reader=database.reader,
            registrations=database.registrations,
            files=database.files,
            outbox=database.outbox,
            registry=_registry(settings, database, stack),
            bus=measured(choice.bus(database), "bus", facts),
            blobs=measured(choice.blobs(signer), "blobs", facts),
            secrets=choice.secrets(),
            extractors=extractors,
            egress=EgressGuard(settings.egress_allowed_networks),
            signer=signer,
            retention=database.retention,
            observer=database.observer,
            changes=database.changes,
            presence=database.presence,
        )


def _registry(settings: Settings, database: SqlDatabase, stack: AsyncExitStack) -> Registry:
    if settings.registration_url is None:
        return database.registrations
    key = settings.registration_api_key
    registry = HttpRegistry(settings.registration_url, api_key=ApiKey(key.get_secret_value()) if key else None)
    stack.push_async_callback(registry.close)
    return registry


def open_database(settings: Settings) -> Engine:
    """Return the engine of the configured database, whatever state its tables are in."""
    if settings.database_url is not None:
        return make_engine(settings.database_url.get_secret_value(), pool_size=SQL_CONNECTIONS)
    return make_engine(f"sqlite:///{own_home(settings) / EMBEDDED_DATABASE}", pool_size=SQL_CONNECTIONS)


def _signer(settings: Settings) -> UrlSigner | None:
    """Return what signs the URLs of files in a folder; a storage account signs its own."""
    if not settings.keeps_blobs_in_folder:
        return None
    return UrlSigner(load_or_make_key(home(settings) / "secrets" / "signing-key"), settings.public_url or "")


class _Choice:
    """Bus, blobs and secrets: Azure's where that is configured, the embedded ones where not."""

    def __init__(
        self, settings: Settings, stack: AsyncExitStack, *, clock: Clock, facts: Facts, roles: Roles | None
    ) -> None:
        self._settings = settings
        self._stack = stack
        self._roles = roles
        self._clock = clock
        self._facts = facts

    @cached_property
    def _azure(self) -> "Azure":
        try:
            from fluxx.wiring_azure import Azure  # noqa: PLC0415 - half a second and 60 MB, only where configured
        except ModuleNotFoundError as missing:
            raise Misconfigured(f"Azure needs {missing.name}; run: pip install 'fluxx[azure]'") from None
        return Azure(self._settings, self._stack, clock=self._clock, facts=self._facts)

    def bus(self, database: SqlDatabase) -> Bus:
        settings, roles = self._settings, self._roles
        accepted, status = settings.topic_accepted_file, settings.topic_job_status
        subscriptions = {accepted: [settings.accepted_file_subscription], status: [settings.job_status_subscription]}
        if settings.keeps_topics_in_database:
            return database.bus(subscriptions)
        if roles is None:
            return self._azure.bus(subscriptions, sends_to=[accepted, status])
        read = {accepted: subscriptions[accepted]} if "worker" in roles else {}
        sends_to = [topic for role, topic in (("files", accepted), ("worker", status)) if role in roles]
        return self._azure.bus(read, sends_to=sends_to)

    def blobs(self, signer: UrlSigner | None) -> Blobs:
        if signer is None:
            return self._azure.blobs(signs=self._roles is None or "worker" in self._roles)
        folder = FolderBlobs(home(self._settings) / "blobs", signer)
        self._stack.push_async_callback(folder.close)
        return folder

    def secrets(self) -> Secrets:
        if self._settings.key_vault_url is not None:
            return self._cached(self._azure.secrets(self._settings.key_vault_url), VAULT_LIFETIME)
        folder = FolderSecrets(home(self._settings) / "secrets")
        self._stack.push_async_callback(folder.close)
        return self._cached(folder, FOLDER_LIFETIME)

    def _cached(self, secrets: Secrets, lifetime: float) -> Secrets:
        return CachedSecrets(measured(secrets, "secrets", self._facts), lifetime=lifetime)


def tracing(settings: Settings) -> Tracing:
    """Return what makes traces: OpenTelemetry where a collector is configured, else nothing does."""
    if settings.otel_exporter_otlp_endpoint is None:
        return NoTracing()
    try:
        from fluxx.adapters.otlp import OtlpTracing  # noqa: PLC0415 - a tenth of a second, only where configured
    except ModuleNotFoundError as missing:
        raise Misconfigured(f"Traces need {missing.name}; run: pip install 'fluxx[tracing]'") from None
    return OtlpTracing(settings.otel_exporter_otlp_endpoint)


def registering(world: World) -> Registering:
    """Return the chapter that writes registrations."""
    return Registering(store=world.registrations, secrets=world.secrets, rules=world.egress, clock=world.clock)


def uploading(world: World) -> Uploading:
    """Return the chapter that takes files."""
    return Uploading(
        registry=world.registry,
        files=world.files,
        blobs=world.blobs,
        bus=world.bus,
        topic=world.settings.topic_accepted_file,
        max_bytes=world.settings.max_upload_bytes,
        clock=world.clock,
        facts=world.facts,
    )


def purge(world: World) -> Purge:
    """Return what forgets old history."""
    return Purge(
        retention=world.retention,
        blobs=world.blobs,
        log=world.settings.topic_job_status,
        clock=world.clock,
        facts=world.facts,
    )


def timekeeping(world: World) -> Timekeeping:
    """Return what holds the clock to the database's."""
    return Timekeeping(clock=world.clock, offset_of=world.database.offset_of, facts=world.facts)


def intervention(world: World) -> Intervention:
    """Return what an operator can do to a job."""
    return Intervention(
        store=world.jobs,
        reader=world.reader,
        limits=world.settings.limits,
        clock=world.clock,
        facts=world.facts,
    )
