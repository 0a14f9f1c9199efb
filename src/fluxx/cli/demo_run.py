"""The course of a demo: start, register, hand in, watch, report, and end everything that was started."""

import asyncio
import random
import signal
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from fluxx import wiring
from fluxx.cli import demo_report, output
from fluxx.cli.demo_child import KINDS
from fluxx.cli.demo_extractors import StartingExtractors
from fluxx.cli.displays import display
from fluxx.cli.exits import FAILED
from fluxx.cli.signals import asked_to_end
from fluxx.cli.submit import jobs_of, upload
from fluxx.cli.watching import Seen, follow
from fluxx.clock import SystemClock
from fluxx.errors import Unavailable
from fluxx.extractors.run import Running
from fluxx.model.job import Status
from fluxx.ports.secrets import ApiKey
from fluxx.roles import ALL_ROLES
from fluxx.running import Service
from fluxx.settings import Settings
from fluxx.telemetry import Facts, logger
from fluxx.wiring import World

T = TypeVar("T")

TERMINATED: Final = 128 + signal.SIGTERM


class Demo(msgspec.Struct, frozen=True, kw_only=True):
    """What to show: ``paths`` to hand in; of these, the names that ought to be ``unreadable``."""

    paths: Sequence[Path]
    unreadable: frozenset[str]
    settings: Settings
    keep: bool

    async def main(self, extractors: StartingExtractors, key: ApiKey) -> int:
        """Run the demo and return its exit status; SIGTERM ends it as Ctrl-C does."""
        ended = False

        def end() -> None:
            nonlocal ended
            ended = True
            running.cancel()

        running = asyncio.create_task(self._started(extractors, key), name="demo")
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end)
        try:
            return await running
        except asyncio.CancelledError:
            if ended:
                return TERMINATED
            raise

    async def _started(self, extractors: StartingExtractors, key: ApiKey) -> int:
        with (self.settings.fluxx_home / "fluxx.log").open("w", encoding="utf-8") as log:
            facts = Facts(logger(log_format="console", level=self.settings.level, stream=log))
            async with wiring.connect(self.settings, facts=facts, clock=SystemClock(), chance=random.Random()) as world:
                service = Service(world, roles=ALL_ROLES, host="127.0.0.1", port=0)
                return await _beside(service, self._shown(world, service, extractors, key))

    async def _shown(self, world: World, service: Service, extractors: StartingExtractors, key: ApiKey) -> int:
        running = Running(await extractors.url())
        await service.ready.wait()
        home = self.settings.fluxx_home
        output.line(f"Fluxx at {service.url}, extractors at {running.url}, everything in {home}\n")
        seen = await self._extracted(world, running, key)
        demo_report.show(seen, home)
        faults = [each for each in seen if not self._is_right(each)]
        output.line("\n" + demo_report.summary(seen, faults))
        output.line(f"Look around with FLUXX_HOME={home}: fluxx jobs list, fluxx events; log: {home / 'fluxx.log'}")
        if self.keep:
            await _kept(service)
        return FAILED if faults else 0

    def _is_right(self, seen: Seen) -> bool:
        """Whether the job ended as it should: a sample as is known, any other with a result or a verdict."""
        if seen.file_name in self.unreadable:
            return demo_report.is_verdict(seen)
        done = seen.job.status is Status.SUCCEEDED
        return done if self.unreadable else done or demo_report.is_verdict(seen)

    async def _extracted(self, world: World, extractors: Running, key: ApiKey) -> Sequence[Seen]:
        registering = wiring.registering(world)
        client = await registering.register_client_application("demo")
        for kind in KINDS:
            await registering.register_extractor(
                client.client_application_id, name=kind, extraction_url=extractors.extraction_url(kind), api_key=key
            )
        files = [await upload(world, path, client.client_application_id) for path in self.paths]
        with display(world.clock) as shown:
            return await follow(world, jobs_of(world, files), expected=len(files) * len(KINDS), display=shown)


async def _beside(service: Service, work: Coroutine[Any, Any, T]) -> T:
    """Return what ``work`` returns while the service runs; the service's own end, if first, is an error."""
    running = asyncio.create_task(service.run(), name="service")
    working = asyncio.create_task(work, name="demo")
    try:
        await asyncio.wait([running, working], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            await running
            raise Unavailable("The service ended by itself; its log says why.")
        return working.result()
    finally:
        working.cancel()
        service.stop()
        await asyncio.gather(running, working, return_exceptions=True)


async def _kept(service: Service) -> None:
    output.line(f"The service goes on at {service.url} (API: {service.url}/docs). Ctrl-C ends it.")
    asked = asyncio.Event()
    with asked_to_end(asked.set):
        await asked.wait()
