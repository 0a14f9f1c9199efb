"""What ``ports.outbox.Outbox`` promises: events wait in order until they are marked; one relay leads.

Bind it with a subclass that has a fixture ``world``.
"""

import asyncio
from contextlib import AsyncExitStack
from uuid import uuid4

from fluxx.messages import job_status
from fluxx.model.outcome import Extracted, Submitted
from support.stores import StoresWorld

RESULT = Extracted("results/1", 1, "f")


class OutboxContract:
    async def test_events_wait_as_they_will_be_published(self, world: StoresWorld) -> None:
        [job] = await world.queued(1)
        await world.happened(job, Submitted("HTTP 201"), RESULT)
        waiting = await world.outbox.unpublished(limit=10)
        envelopes = [job_status.decode(event.body) for event in waiting]
        assert [one.id for one in envelopes] == [event.event_id for event in waiting]
        assert [one.type.rpartition(".")[2] for one in envelopes] == ["JobQueued", "JobStarted", "JobSucceeded"]
        assert {event.order_key for event in waiting} == {str(job.job_id)}

    async def test_the_oldest_come_first_and_no_more_than_asked(self, world: StoresWorld) -> None:
        jobs = await world.queued(5)
        await world.happened(jobs[0], Submitted("HTTP 201"))
        waiting = await world.outbox.unpublished(limit=10)
        assert [event.order_key for event in waiting[-1:]] == [str(jobs[0].job_id)]
        assert len(waiting) == 6
        assert await world.outbox.unpublished(limit=3) == waiting[:3]

    async def test_what_is_marked_waits_no_more_and_marking_twice_is_harmless(self, world: StoresWorld) -> None:
        await world.queued(4)
        waiting = await world.outbox.unpublished(limit=10)
        for _ in range(2):
            await world.outbox.mark_published([event.outbox_id for event in waiting[1:3]])
        assert await world.outbox.unpublished(limit=10) == [waiting[0], waiting[3]]
        await world.outbox.mark_published([])
        assert len(await world.outbox.unpublished(limit=10)) == 2

    async def test_a_whole_batch_is_marked_at_once(self, world: StoresWorld) -> None:
        await world.queued(500)
        await world.outbox.mark_published([event.outbox_id for event in await world.outbox.unpublished(limit=500)])
        assert await world.outbox.unpublished(limit=500) == []

    async def test_one_relay_leads_until_its_lease_is_over(self, world: StoresWorld) -> None:
        first, second = uuid4(), uuid4()
        assert await world.outbox.lead(first, lease_for=15)
        assert not await world.outbox.lead(second, lease_for=15)
        world.clock.jump(10)
        assert await world.outbox.lead(first, lease_for=15)
        world.clock.jump(10)
        assert not await world.outbox.lead(second, lease_for=15)
        world.clock.jump(6)
        assert await world.outbox.lead(second, lease_for=15)
        assert not await world.outbox.lead(first, lease_for=15)

    async def test_of_relays_in_many_processes_one_leads(self, world: StoresWorld) -> None:
        async with AsyncExitStack() as stack:
            processes = [await stack.enter_async_context(world.another()) for _ in range(4)]
            for _ in range(3):  # the first of all, and successors
                owners = [uuid4() for _ in range(12)]
                led = await asyncio.gather(
                    *(processes[number % 4].outbox.lead(owner, lease_for=15) for number, owner in enumerate(owners))
                )
                assert sum(led) == 1
                world.clock.jump(16)
