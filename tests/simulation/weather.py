"""Workers, and what hits them and what they stand on until the sky is clear."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Protocol

from fluxx.loops.supervisor import Supervisor
from fluxx.wiring_worker import worker_parts
from simulation.plan import Hit, Outage
from simulation.stage import Stage
from simulation.virtual_loop import Process

BURNING = 2.0
"""Seconds after which an idle process is hit where it stands."""


class Target(Protocol):
    """Something that can be hit and comes back."""

    process: Process

    def begin(self) -> None:
        """Start another life."""
        ...

    async def end(self) -> None:
        """End this life orderly."""
        ...


class Worker:
    """A worker over all its lives: each is a process and a world of its own."""

    def __init__(self, stage: Stage, number: int) -> None:
        self._stage = stage
        self._number = number
        self._lives = 0
        self.begin()

    def begin(self) -> None:
        """Start another life."""
        name = f"worker{self._number}" + "'" * self._lives
        self._lives += 1
        world = self._stage.world(name, ahead=self._stage.plan.skews[self._number])
        self.process = self._stage.process(name)
        self._supervisor = Supervisor(worker_parts(world), world.facts)
        self._running = self.process.start(self._supervisor.run())

    async def end(self) -> None:
        """Drain, as a deployment lets it."""
        self._supervisor.stop()
        await asyncio.wait([self._running])

    def fell(self) -> BaseException | None:
        """Return what ended the worker, if it ended by itself."""
        return self._running.exception() if self._running.done() else None


class Weather:
    """Brings the plan's hits and outages, one at a time to each target."""

    def __init__(self, stage: Stage, targets: Sequence[Target]) -> None:
        self._stage = stage
        self._targets = targets
        self._turns: defaultdict[object, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def all(self) -> None:
        """Let it come down; return when the sky is clear."""
        plan, machine = self._stage.plan, self._stage.machine
        machine.errors, machine.slow = plan.errors, plan.slow
        blows = [*(self._hit(hit) for hit in plan.hits), *(self._outage(outage) for outage in plan.outages)]
        await asyncio.gather(asyncio.sleep(plan.clear_at), *blows)
        machine.errors = 0.0
        self._stage.trace.tell("sky", "clear")

    async def _outage(self, outage: Outage) -> None:
        await asyncio.sleep(outage.at)
        async with self._turns[outage.part]:
            self._stage.trace.tell("sky", "away", part=outage.part)
            self._stage.machine.away.add(outage.part)
            await asyncio.sleep(outage.length)
            self._stage.machine.away.discard(outage.part)
            self._stage.trace.tell("sky", "back", part=outage.part)

    async def _hit(self, hit: Hit) -> None:
        await asyncio.sleep(hit.at)
        async with self._turns[hit.worker]:
            target = self._targets[hit.worker % len(self._targets)]
            if hit.blow == "restart":
                self._stage.trace.tell("sky", "restart", target=target.process.name)
                await target.end()
            else:
                await self._strike(hit, target)
            if hit.blow != "freeze":
                target.begin()

    async def _strike(self, hit: Hit, target: Target) -> None:
        process, struck = target.process, asyncio.Event()

        def strike() -> None:
            self._stage.trace.tell("sky", hit.blow, target=process.name)
            struck.set()
            if hit.blow == "kill":
                process.kill()
            else:
                process.freeze()

        process.light(hit.steps, strike)
        try:
            async with asyncio.timeout(BURNING):
                await struck.wait()
        except TimeoutError:
            process.douse()
            strike()
        await asyncio.sleep(hit.length)
        process.thaw()
