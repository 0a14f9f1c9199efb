"""Plays a seed from the first registration to the last event, and gathers the evidence."""

import asyncio
from typing import Final

from simulation.desk import Desk
from simulation.evidence import Evidence, Witness, gather
from simulation.plan import Plan, plan_of
from simulation.stage import Stage, Variant, stage
from simulation.weather import Weather, Worker

LOOK_EVERY: Final = 0.5
PATIENCE: Final = 300.0
"""Seconds under a clear sky after which what isn't settled is stuck."""

UNSETTLED: Final = """
SELECT (SELECT count(*) FROM "Job" WHERE "DueAt" IS NOT NULL)
     + (SELECT count(*) FROM "Outbox" WHERE "PublishedAt" IS NULL)
     + (SELECT count(*) FROM "BusMessage" WHERE "Topic" = 'accepted-file' AND "DeadLetterReason" IS NULL)
"""


def simulate(seed: int | Plan, *, variant: Variant = lambda world: world) -> Evidence:
    """Return what is known after the seed's day. ``variant`` breaks something for a purpose."""
    plan = plan_of(seed) if isinstance(seed, int) else seed
    with stage(plan, variant) as set_up:
        return set_up.loop.run_until_complete(_played(set_up))


async def _played(stage: Stage) -> Evidence:
    desk, witness = Desk(stage), Witness(stage)
    await desk.prepare()
    stage.machine.committed = witness.look
    workers = [Worker(stage, number) for number in range(stage.plan.workers)]
    await asyncio.gather(Weather(stage, [*workers, desk]).all(), desk.all())
    clear_at = stage.loop.time()
    settled = await _settled(stage)
    desk.begin()
    await desk.purge()
    fallen = [str(error) for worker in workers if (error := worker.fell())]
    for worker in workers:
        await worker.end()
    evidence = gather(stage, desk, witness, clear_at=clear_at, settled=settled, fallen=fallen)
    await _buried(stage)
    return evidence


async def _settled(stage: Stage) -> bool:
    """Wait until nothing is left to do; say whether that came."""
    end = stage.loop.time() + PATIENCE
    while stage.rows.execute(UNSETTLED).fetchone() != (0,):
        if stage.loop.time() > end:
            return False
        await asyncio.sleep(LOOK_EVERY)
    return True


async def _buried(stage: Stage) -> None:
    """Let everything that was killed end too, so that nothing is left over."""
    stage.machine.away.clear()
    left = [task for process in stage.processes for task in process.tasks if not task.done()]
    for process in stage.processes:
        process.bury()
    if left:
        await asyncio.wait(left, timeout=PATIENCE)
