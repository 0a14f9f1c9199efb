"""A running service: roles become parts, the supervisor starts and drains them.

``fluxx up`` runs every role in one process; ``fluxx worker`` and ``fluxx serve`` run some of them.
"""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Final, TypeAlias

from fluxx.api.access.credentials import credentials
from fluxx.api.access.rates import Rates
from fluxx.api.app import create_app
from fluxx.api.context import ApiContext
from fluxx.api.gauges import Gauges
from fluxx.api.live_hub import Hub
from fluxx.api.server import HttpServer
from fluxx.dashboard.site import add_dashboard
from fluxx.errors import Misconfigured, Unavailable
from fluxx.extraction.asking import Asking
from fluxx.extraction.catalogue import Catalogue
from fluxx.extraction.collect import Collect
from fluxx.extraction.dispatcher import Capacity, Dispatcher
from fluxx.extraction.finish import Finish, Steps
from fluxx.extraction.handed_out import HandedOut
from fluxx.extraction.poll import Poll
from fluxx.extraction.submit import Submit
from fluxx.intake.accepting import Accepting
from fluxx.loops.loop import Loop
from fluxx.loops.supervisor import Part, Supervisor
from fluxx.outbox.relay import Relay
from fluxx.roles import ALL_ROLES, API_ROLES, NEEDS, ApiRole, Roles
from fluxx.settings import Settings
from fluxx.telemetry import PART_AWAY, SERVICE_DRAINING, SERVICE_READY, SERVICE_STOPPED
from fluxx.upkeep.purge import ROUND_REST
from fluxx.upkeep.signing_in import SigningIn
from fluxx.wiring import World, intervention, purge, registering, timekeeping, uploading
from fluxx.wiring_dashboard import dashboard_context

Checks: TypeAlias = Mapping[str, Callable[[], Awaitable[None]]]

DRAIN_PATIENCE: Final = 5.0
"""Seconds that running steps get at the end, before their jobs are given back."""


class Service:
    """Runs ``roles`` until ``stop``. ``url`` is known once ``ready`` is set (None without an API role)."""

    def __init__(self, world: World, *, roles: Roles, host: str, port: int) -> None:
        self.ready = asyncio.Event()
        self.url: str | None = None
        self._world = world
        self._roles = roles
        self._host = host
        self._port = port
        self._supervisor: Supervisor | None = None
        self._stopped_early = False

    def stop(self) -> None:
        """Ask for the end; safe from a signal handler and more than once."""
        self._stopped_early = True
        if self._supervisor is not None:
            self._supervisor.stop()

    async def run(self) -> None:
        """Start, run until ``stop``, drain. Raises ``Misconfigured`` where it can't start."""
        _check_signed_urls(self._roles, self._world.settings)
        await self._check_world()
        relay = _relay(self._world)
        clock = Loop("clock", timekeeping(self._world).step, self._world.facts)
        parts = [_part(clock), *await self._serving_parts(relay)]
        if "worker" in self._roles:
            parts.extend(worker_parts(self._world, relay))
        self._supervisor = Supervisor(parts, self._world.facts)
        if self._stopped_early:
            self._supervisor.stop()
        self._world.facts.tell(SERVICE_READY, url=self.url or "no address (no API role)")
        self.ready.set()
        await self._supervisor.run()
        self._world.facts.tell(SERVICE_STOPPED)

    async def _check_world(self) -> None:
        """Refuse to start where a setting names what isn't there; what is only away now may come back."""
        for name, check in checks(self._world, self._roles).items():
            try:
                await check()
            except Unavailable as error:
                self._world.facts.tell(PART_AWAY, part=name, error=error)

    async def _serving_parts(self, relay: Relay) -> list[Part]:
        api_roles: frozenset[ApiRole] = frozenset(role for role in API_ROLES if role in self._roles)
        if not api_roles:
            return []
        context = api_context(self._world, self._roles, relay)
        app = create_app(context, roles=api_roles)
        if "jobs" in api_roles:
            add_dashboard(app, dashboard_context(self._world, context))
        server = HttpServer(app, host=self._host, port=self._port, guarded=context.credentials.guarded)
        await server.listen()
        self.url = server.url
        if self._world.signer is not None and not self._world.settings.public_url:
            self._world.signer.base_url = server.url

        def stop() -> None:
            context.live.close()
            server.stop()

        return [Part(name="http", run=server.run, stop=stop)]


def _check_signed_urls(roles: Roles, settings: Settings) -> None:
    """Refuse a worker that could only make file URLs that lead nowhere."""
    if settings.keeps_blobs_in_folder and settings.public_url is None and "worker" in roles and "files" not in roles:
        raise Misconfigured(
            "PUBLIC_URL must be set for a worker without the files API:"
            " the base URL under which extractors reach `fluxx serve files`, e.g. http://files.internal:8080"
        )


def checks(world: World, roles: Roles) -> Checks:
    """Return what to ask of the parts that ``roles`` need; each raises ``Misconfigured`` or ``Unavailable``."""
    every: Checks = {
        "database": world.database.check,
        "bus": world.bus.check,
        "blobs": world.blobs.check,
        "secrets": world.secrets.check,
    }
    needed = {name for role in roles for name in NEEDS[role]}
    return {name: check for name, check in every.items() if name in needed}


def _readiness(world: World, roles: Roles, relay: Relay | None) -> Checks:
    """Return the checks for ``/readyz``: the bus is ready only where it takes what the relay publishes, too."""
    found = checks(world, roles)
    if relay is None or "bus" not in found:
        return found

    async def bus() -> None:
        await relay.check()
        await world.bus.check()

    return {**found, "bus": bus}


def api_context(world: World, roles: Roles = ALL_ROLES, relay: Relay | None = None) -> ApiContext:
    """Return what the HTTP APIs stand on; ``relay`` is the one of the worker in the same process."""
    return ApiContext(
        clock=world.clock,
        facts=world.facts,
        registering=registering(world),
        registrations=world.registrations,
        files=world.files,
        uploading=uploading(world),
        reader=world.reader,
        intervention=intervention(world),
        blobs=world.blobs,
        live=Hub(world.changes, world.facts),
        gauges=Gauges(observer=world.observer, registrations=world.registrations, clock=world.clock, facts=world.facts),
        signer=world.signer,
        credentials=credentials(world.settings, clock=world.clock, facts=world.facts),
        rates=Rates(world.settings.rate_limit_per_second),
        checks=_readiness(world, roles, relay),
    )


def _relay(world: World) -> Relay:
    return Relay(
        outbox=world.outbox,
        publisher=world.bus,
        topic=world.settings.topic_job_status,
        clock=world.clock,
        facts=world.facts,
    )


def worker_parts(world: World, relay: Relay | None = None) -> list[Part]:
    """Return the loops of a worker, in the order of a file's life: intake last, so that it stops first."""
    relaying = Loop("relay", (relay or _relay(world)).step, world.facts)

    async def claim() -> float:
        return await dispatcher.claim()

    claiming = Loop("dispatch", claim, world.facts)
    dispatcher = _dispatcher(world, relaying, claiming)
    renewing = Loop("renew", dispatcher.renew, world.facts)
    accepting = Loop("accept", _accepting(world, (claiming, relaying)).step, world.facts)

    async def dispatch() -> None:
        await claiming.run()
        world.facts.tell(SERVICE_DRAINING)
        await dispatcher.drain(patience=DRAIN_PATIENCE)

    return [
        _signing_in(world),
        *_upkeep(world),
        _part(relaying),
        _part(renewing),
        Part(name="dispatch", run=dispatch, stop=claiming.stop, drain=2 * DRAIN_PATIENCE),
        _part(accepting),
    ]


def _signing_in(world: World) -> Part:
    signing_in = SigningIn(world.presence, worker=f"{socket.gethostname()}:{os.getpid()}")
    loop = Loop("sign-in", signing_in.step, world.facts)

    async def run() -> None:
        await loop.run()
        with suppress(Unavailable):
            await signing_in.end()

    return Part(name=loop.name, run=run, stop=loop.stop)


def _upkeep(world: World) -> list[Part]:
    days = world.settings.retention_days
    if days is None:
        return []
    forgetting = purge(world)

    async def step() -> float:
        await forgetting.older_than(timedelta(days=days))
        return ROUND_REST

    return [_part(Loop("retention", step, world.facts))]


def _part(loop: Loop) -> Part:
    return Part(name=loop.name, run=loop.run, stop=loop.stop)


def _accepting(world: World, news_for: Iterable[Loop]) -> Accepting:
    def announce() -> None:
        for loop in news_for:
            loop.wake()

    return Accepting(
        subscription=world.bus.subscription(
            world.settings.topic_accepted_file, world.settings.accepted_file_subscription
        ),
        registry=world.registry,
        store=world.jobs,
        blobs=world.blobs,
        limits=world.settings.limits,
        clock=world.clock,
        facts=world.facts,
        announce=announce,
    )


def _dispatcher(world: World, relaying: Loop, claiming: Loop) -> Dispatcher:
    settings = world.settings
    finish = Finish(
        steps=_steps(world),
        store=world.jobs,
        limits=settings.limits,
        clock=world.clock,
        facts=world.facts,
        chance=world.chance,
        announce=relaying.wake,
    )
    capacity = Capacity(jobs=settings.max_concurrency, share=settings.extractor_share, lease=settings.lease_seconds)
    return Dispatcher(
        store=world.jobs,
        finish=finish,
        capacity=capacity,
        clock=world.clock,
        facts=world.facts,
        wake=claiming.wake,
    )


def _steps(world: World) -> Steps:
    settings = world.settings
    asking = Asking(client=world.extractors, secrets=world.secrets)
    catalogue = Catalogue(registrations=world.registrations, files=world.files, clock=world.clock)
    handed_out = HandedOut(
        catalogue=catalogue, blobs=world.blobs, secrets=world.secrets, url_ttl=settings.signed_url_ttl_seconds
    )
    collect = _collect(world, handed_out)
    submit = Submit(
        asking=asking,
        catalogue=catalogue,
        collect=collect,
        handed_out=handed_out,
        clock=world.clock,
        timeout=settings.submit_timeout_seconds,
        max_bytes=settings.max_inline_result_bytes,
    )
    poll = Poll(
        asking=asking,
        catalogue=catalogue,
        collect=collect,
        handed_out=handed_out,
        clock=world.clock,
        timeout=settings.poll_timeout_seconds,
        max_bytes=settings.max_inline_result_bytes,
    )
    return Steps(submit=submit, poll=poll, secrets_of=handed_out.secrets_of)


def _collect(world: World, handed_out: HandedOut) -> Collect:
    return Collect(
        client=world.extractors,
        secrets=world.secrets,
        blobs=world.blobs,
        handed_out=handed_out,
        clock=world.clock,
        facts=world.facts,
        timeout=world.settings.poll_timeout_seconds,
        max_bytes=world.settings.max_result_bytes,
    )
