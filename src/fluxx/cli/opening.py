"""Opens what the settings name for one command, and closes it after."""

import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from fluxx.cli import output

if TYPE_CHECKING:
    from fluxx.settings import Settings
    from fluxx.telemetry import Facts
    from fluxx.wiring import World

T = TypeVar("T")


def with_world(work: "Callable[[World], Awaitable[T]]", *, begins: bool = False, prepared: bool = True) -> T:
    """Return what ``work`` returns for the opened world. Errors come through, for ``main`` to tell.

    Only work that ``begins`` something may make the home; it is told that it did. Where the world isn't ``prepared``,
    whether its database answers is left for the work to find out.
    """
    import asyncio

    return asyncio.run(_opened(work, begins=begins, prepared=prepared))


def run_service(service: Coroutine[Any, Any, T]) -> T:
    """Run something long on the fastest event loop that there is."""
    import asyncio

    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(service)


async def load_settings() -> "Settings":
    """Return the settings, from everywhere. Raises ``Misconfigured`` or ``Unavailable``."""
    from fluxx.settings import load

    return load(await app_configuration())


async def app_configuration() -> Mapping[str, str]:
    """Return what Azure App Configuration holds, where it is configured at all."""
    from fluxx.errors import Misconfigured
    from fluxx.settings import load

    settings = load()
    if settings.app_config_connection_string is None and settings.app_config_endpoint is None:
        return {}
    try:
        from fluxx.adapters.azure.app_configuration import read
    except ModuleNotFoundError as missing:
        raise Misconfigured(f"App Configuration needs {missing.name}; run: pip install 'fluxx[azure]'") from None
    return await read(settings)


def require_data(settings: "Settings") -> None:
    """Raise ``Misconfigured`` where nothing was ever kept: a database made now would answer as if all were well."""
    from fluxx.errors import Misconfigured
    from fluxx.wiring_home import holds_data

    if not holds_data(settings):
        raise Misconfigured(
            f"There is no data in {settings.fluxx_home}: change to the folder in which Fluxx runs, set FLUXX_HOME,"
            " or begin with 'fluxx up'."
        )


def service_facts(settings: "Settings") -> "Facts":
    """Return where a service tells its facts: a log on stderr, as the settings want it. Libraries log there too."""
    import logging

    from fluxx import telemetry, wiring

    logger = telemetry.logger(
        log_format=settings.log_format, level=settings.level, stream=sys.stderr, secrets=settings.secrets
    )
    logging.getLogger().addHandler(telemetry.Foreign(logger))
    return telemetry.Facts(logger, level=settings.level, tracing=wiring.tracing(settings))


async def _opened(work: "Callable[[World], Awaitable[T]]", *, begins: bool, prepared: bool) -> T:
    settings = await load_settings()
    if not begins:
        require_data(settings)
    # Only now: settings that make no sense, and a wrong folder, are told at once, not after a second of loading.
    import random

    from fluxx import wiring
    from fluxx.clock import SystemClock
    from fluxx.telemetry import Facts
    from fluxx.wiring_home import holds_data

    if not holds_data(settings):
        output.hint(f"Everything will be kept in {settings.fluxx_home}, which held no data until now.")
    opening = wiring.connect if prepared else wiring.assembled
    async with opening(settings, facts=Facts(), clock=SystemClock(), chance=random.Random()) as world:
        return await work(world)
