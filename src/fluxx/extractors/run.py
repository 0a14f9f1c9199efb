"""Runs extractors: the entry for ``fluxx demo`` and ``fluxx simulate``, and for anybody's own program.

Importing this is light; the libraries that read documents are loaded in the worker processes only.
"""

import asyncio
import errno
import importlib.util
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

import aiohttp
import msgspec
from aiohttp import web

from fluxx.errors import Misconfigured
from fluxx.extractors.contract import Backend, Kind
from fluxx.extractors.jobs import Bounds, Extractions
from fluxx.extractors.server import application
from fluxx.extractors.simulator import Simulation, Simulator
from fluxx.extractors.workers import Workers
from fluxx.telemetry import Facts

LIBRARIES: Final = ("kreuzberg", "pdfplumber")
DOWNLOADS: Final = 8
"""Files fetched at the same time."""

SHUTDOWN_SECONDS: Final = 2.0
"""How long answers that are under way may take once the server is asked to end."""


class Running(msgspec.Struct, frozen=True):
    """A server that answers. ``url`` is its base, without a slash at the end."""

    url: str

    def extraction_url(self, kind: Kind) -> str:
        """Return what an extractor of this kind is registered with; its polling URL is the same."""
        return f"{self.url}/{kind}/jobs"


@asynccontextmanager
async def serve(
    kinds: Sequence[Kind],
    *,
    facts: Facts,
    host: str = "127.0.0.1",
    port: int = 0,
    api_key: str | None = None,
    workers: int = 2,
    bounds: Bounds | None = None,
    simulation: Simulation | None = None,
) -> AsyncIterator[Running]:
    """Serve ``kinds`` side by side until the block is left; port 0 takes a free one.

    ``api_key`` guards all kinds; None asks for no key. ``workers`` processes at most extract at the same
    time. Raises ``Misconfigured`` where the extra is not installed or the address can't be bound.
    """
    async with AsyncExitStack() as stack:
        backends: dict[str, Backend] = {}
        if "simulator" in kinds:
            backends["simulator"] = _simulator(simulation or Simulation())
        real = [kind for kind in kinds if kind != "simulator"]
        if real:
            shared = await stack.enter_async_context(_real(real, workers, bounds or Bounds(), facts))
            backends.update(shared)
        runner = web.AppRunner(
            application(backends, api_key=api_key), access_log=None, shutdown_timeout=SHUTDOWN_SECONDS
        )
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        yield Running(await _bind(runner, host, port))


@asynccontextmanager
async def _real(kinds: Sequence[Kind], size: int, bounds: Bounds, facts: Facts) -> AsyncIterator[dict[str, Backend]]:
    """Return the backends that really extract; they share workers, downloads and a temporary folder."""
    _require_libraries()
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fluxx-extractors-")))
        workers = Workers(size=size, time_limit=bounds.extraction_seconds, facts=facts)
        stack.push_async_callback(workers.close)
        session = await stack.enter_async_context(aiohttp.ClientSession())
        downloads = asyncio.Semaphore(DOWNLOADS)
        backends: dict[str, Backend] = {}
        for kind in kinds:
            backends[kind] = Extractions(
                kind,
                bounds=bounds,
                folder=folder,
                session=session,
                downloads=downloads,
                workers=workers,
                facts=facts,
            )
            stack.push_async_callback(backends[kind].close)
        yield backends


def _simulator(simulation: Simulation) -> Simulator:
    simulation.check()
    return Simulator(simulation)


def _require_libraries() -> None:
    missing = [name for name in LIBRARIES if importlib.util.find_spec(name) is None]
    if missing:
        raise Misconfigured(f"Needs {' and '.join(missing)}; run: pip install 'fluxx[extractors]'")


async def _bind(runner: web.AppRunner, host: str, port: int) -> str:
    site = web.TCPSite(runner, host, port)
    try:
        await site.start()
    except UnicodeError:
        raise Misconfigured(f"{host!r} is not an address to listen on.") from None
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        reason = "is in use" if taken else f"can't be used: {error.strerror or error}"
        raise Misconfigured(f"Port {port} of {host} {reason}.") from error
    bound_host, bound_port = runner.addresses[0][:2]
    return f"http://[{bound_host}]:{bound_port}" if ":" in bound_host else f"http://{bound_host}:{bound_port}"
