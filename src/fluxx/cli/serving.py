"""``fluxx up | worker | serve``: the service in the foreground, until it is told to stop."""

import gc
from typing import TYPE_CHECKING, Final

from fluxx.cli import output
from fluxx.cli.grouping import group
from fluxx.cli.opening import run_service
from fluxx.cli.options import Host, Port

if TYPE_CHECKING:
    from fluxx.roles import Roles
    from fluxx.running import Service
    from fluxx.settings import Settings

serve: Final = group("Serve one of the HTTP APIs alone; run as many as you like.")

LOOPBACK: Final = "127.0.0.1"
PORT: Final = 8080
NEXT_STEPS: Final = """\
Next, in another terminal, in the same folder:
  fluxx client add NAME
  fluxx extractor add --client-application ID --name NAME --url URL --key-file FILE
  fluxx submit FILE --client-application ID --wait
An extractor at a private or loopback address must be listed in EGRESS_ALLOWED_NETWORKS, e.g. 127.0.0.0/8;
in .env it counts for the service and for these commands.
{dashboard}API with its documentation: {url}/docs. Ctrl-C drains and stops."""


def up(host: Host = LOOPBACK, port: Port = PORT) -> None:
    """Run everything in one process, until SIGTERM or Ctrl-C."""
    run_service(_served(frozenset({"worker", "registration", "files", "jobs"}), host, port))


def worker() -> None:
    """Run a worker alone: files to jobs, jobs to results and events."""
    run_service(_served(frozenset({"worker"}), LOOPBACK, 0))


@serve.command("registration")
def serve_registration(host: Host = LOOPBACK, port: Port = PORT) -> None:
    """Serve the registration API: clients and their extractors."""
    run_service(_served(frozenset({"registration"}), host, port))


@serve.command("jobs")
def serve_jobs(host: Host = LOOPBACK, port: Port = PORT) -> None:
    """Serve the job API: histories, results, cancel, retry."""
    run_service(_served(frozenset({"jobs"}), host, port))


@serve.command("files")
def serve_files(host: Host = LOOPBACK, port: Port = PORT) -> None:
    """Serve the file API: uploads, and files by signed URL."""
    run_service(_served(frozenset({"files"}), host, port))


async def _served(roles: "Roles", host: str, port: int) -> None:
    from fluxx.cli.open_files import allow_more_open_files
    from fluxx.cli.opening import load_settings, service_facts

    allow_more_open_files()
    settings = await load_settings()
    import asyncio
    import random

    from fluxx import wiring
    from fluxx.cli.signals import asked_to_end
    from fluxx.clock import SystemClock
    from fluxx.running import Service

    facts = service_facts(settings)
    clock, chance = SystemClock(), random.Random()
    async with wiring.connect(settings, facts=facts, clock=clock, chance=chance, roles=roles) as world:
        service = Service(world, roles=roles, host=host, port=port)
        announcing = asyncio.create_task(_settled(service, settings, roles))
        with asked_to_end(service.stop):
            await service.run()
        announcing.cancel()


async def _settled(service: "Service", settings: "Settings", roles: "Roles") -> None:
    """Once the service is ready, spare the garbage collector what stays, and say what to do next."""
    await service.ready.wait()
    # It would look through all modules and routes again and again, a tenth of a second each time, while jobs wait.
    gc.collect()
    gc.freeze()
    _announce(service, settings, roles)


def _announce(service: "Service", settings: "Settings", roles: "Roles") -> None:
    """Say what to do next, beside a log for people; a log for programs stays pure."""
    import logging

    if settings.log_format == "json":
        return
    if settings.level > logging.INFO:
        output.hint(f"Ready at {service.url}" if service.url else "Ready")
    if service.url:
        dashboard = f"Dashboard: {service.url}/. " if "jobs" in roles else ""
        output.hint(NEXT_STEPS.format(url=service.url, dashboard=dashboard))
