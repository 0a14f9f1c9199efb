"""A running service: roles become parts, the supervisor starts and drains them.

``fluxx up`` runs every role in one process; ``fluxx worker`` and ``fluxx serve`` run some of them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from fluxx.api.access.credentials import credentials
from fluxx.api.access.rates import Rates
from fluxx.api.app import create_app
from fluxx.api.context import ApiContext
from fluxx.api.gauges import Gauges
from fluxx.api.live_hub import Hub
from fluxx.api.server import HttpServer
from fluxx.dashboard.site import add_dashboard
from fluxx.errors import Misconfigured, Unavailable
from fluxx.loops.loop import Loop
from fluxx.loops.supervisor import Part, Supervisor
from fluxx.outbox.relay import Relay
from fluxx.roles import ALL_ROLES, API_ROLES, NEEDS, ApiRole, Roles
from fluxx.settings import Settings
from fluxx.telemetry import PART_AWAY, SERVICE_READY, SERVICE_STOPPED
from fluxx.wiring import World, intervention, registering, timekeeping, uploading
from fluxx.wiring_dashboard import dashboard_context
from fluxx.wiring_worker import part_of, relay_of, worker_parts

Checks: TypeAlias = Mapping[str, Callable[[], Awaitable[None]]]


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
        relay = relay_of(self._world)
        clock = Loop("clock", timekeeping(self._world).step, self._world.facts)
        parts = [part_of(clock), *await self._serving_parts(relay)]
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
            add_dashboard(app, dashboard_context(self._world, context, self._roles))
        server = HttpServer(app, host=self._host, port=self._port, guarded=context.credentials.guarded)
        await server.listen()
        self.url = server.url
        if self._world.signer is not None and self._world.settings.public_url is None:
            self._world.signer.base_url = self._url_for_extractors(server)

        def stop() -> None:
            context.live.close()
            server.stop()

        return [Part(name="http", run=server.run, stop=stop)]

    def _url_for_extractors(self, server: HttpServer) -> str:
        if server.is_everywhere and "worker" in self._roles:
            raise Misconfigured(
                f"PUBLIC_URL must be set where {self._host} is listened on: the base URL under which extractors reach"
                f" this service's files, e.g. http://fluxx.internal:{server.port}"
            )
        return server.url


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
        gauges=Gauges(
            observer=world.observer,
            presence=world.presence,
            registrations=world.registrations,
            clock=world.clock,
            facts=world.facts,
        ),
        signer=world.signer,
        credentials=credentials(world.settings, clock=world.clock, facts=world.facts),
        rates=Rates(world.settings.rate_limit_per_second),
        checks=_readiness(world, roles, relay),
    )
