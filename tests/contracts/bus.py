"""What ``ports.bus`` promises, whatever keeps it.

Bind it with a subclass that has a fixture ``world``.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Protocol

from fluxx.ports.bus import Bus, Delivery, Message, Recorded, Subscription

SOON = 5.0
"""Seconds within which what is there comes."""

EMPTY = 0.1
"""Seconds to wait where nothing is expected."""


class BusWorld(Protocol):
    """A bus with a topic, and what tests need beside it."""

    bus: Bus
    topic: str
    lock_seconds: float

    def subscribe(self) -> str:
        """Add a subscription to the topic and return its name; it gets what is published from now on."""
        ...

    def pass_time(self, seconds: float) -> None:
        """Let the broker's time jump ahead."""
        ...


def message(number: int, *, key: str | None = None, body: bytes | None = None) -> Message:
    return Message(message_id=f"m-{number}", body=body or f'{{"n":{number}}}'.encode(), order_key=key)


def ids(seen: Sequence[Delivery | Recorded]) -> list[str]:
    return [one.message.message_id for one in seen]


async def received(subscription: Subscription, count: int) -> list[Delivery]:
    """Receive ``count`` messages, however many come at a time."""
    deliveries: list[Delivery] = []
    while len(deliveries) < count:
        came = await subscription.receive(limit=count - len(deliveries), wait=SOON)
        assert came, f"{len(deliveries)} of {count} came"
        deliveries += came
    return deliveries


class BusContract:
    async def test_a_message_arrives_whole(self, world: BusWorld) -> None:
        topic, name = world.topic, world.subscribe()
        sent = Message(
            message_id="0198f6d2-7d0b-7c1e-a9a4-0c2f6b0d1e55",
            body=b"\x00\xff any bytes \xf0\x9f\x93\x84",
            order_key="job-1",
            content_type="application/cloudevents+json",
            trace_context="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        )
        await world.bus.publish(topic, [sent])
        [delivery] = await received(world.bus.subscription(topic, name), 1)
        assert delivery.message == sent
        assert delivery.delivery_count == 1

    async def test_what_may_be_left_out_stays_out(self, world: BusWorld) -> None:
        topic, name = world.topic, world.subscribe()
        sent = Message(message_id="bare", body=b"{}")
        await world.bus.publish(topic, [sent])
        [delivery] = await received(world.bus.subscription(topic, name), 1)
        assert delivery.message == sent

    async def test_every_subscription_gets_its_own_copy(self, world: BusWorld) -> None:
        first, second = (world.bus.subscription(world.topic, world.subscribe()) for _ in range(2))
        await world.bus.publish(world.topic, [message(1)])
        await first.complete(await received(first, 1))
        assert ids(await received(second, 1)) == ["m-1"]

    async def test_an_empty_receive_waits_as_long_as_asked(self, world: BusWorld) -> None:
        subscription = world.bus.subscription(world.topic, world.subscribe())
        await subscription.receive(limit=1, wait=0)  # connects
        start = asyncio.get_running_loop().time()
        assert await subscription.receive(limit=10, wait=0.3) == []
        assert 0.3 <= asyncio.get_running_loop().time() - start < 1.5

    async def test_a_waiting_receive_sees_what_is_published_meanwhile(self, world: BusWorld) -> None:
        topic, name = world.topic, world.subscribe()
        waiting = asyncio.create_task(world.bus.subscription(topic, name).receive(limit=10, wait=60))
        await world.bus.publish(topic, [message(1)])
        async with asyncio.timeout(SOON):
            assert ids(await waiting) == ["m-1"]

    async def test_no_more_than_the_limit_comes_at_a_time(self, world: BusWorld) -> None:
        topic, name = world.topic, world.subscribe()
        await world.bus.publish(topic, [message(number) for number in range(5)])
        subscription = world.bus.subscription(topic, name)
        assert len(await subscription.receive(limit=3, wait=SOON)) == 3
        assert len(await received(subscription, 2)) == 2

    async def test_the_messages_of_one_key_come_in_order(self, world: BusWorld) -> None:
        topic, name = world.topic, world.subscribe()
        messages = [message(number, key=f"job-{number % 3}") for number in range(60)]
        for start in range(0, len(messages), 20):
            await world.bus.publish(topic, messages[start : start + 20])
        came: dict[str | None, list[str]] = defaultdict(list)
        for delivery in await received(world.bus.subscription(topic, name), 60):
            came[delivery.message.order_key].append(delivery.message.message_id)
        assert came == {f"job-{rest}": [f"m-{number}" for number in range(rest, 60, 3)] for rest in range(3)}

    async def test_publishers_at_the_same_time_all_get_through(self, world: BusWorld) -> None:
        topic, name = world.topic, world.subscribe()
        await asyncio.gather(*(world.bus.publish(topic, [message(number)]) for number in range(40)))
        assert set(ids(await received(world.bus.subscription(topic, name), 40))) == {f"m-{n}" for n in range(40)}

    async def test_many_and_large_messages_go_out_in_one_call(self, world: BusWorld) -> None:
        topic, name = world.topic, world.subscribe()
        await world.bus.publish(topic, [message(number, body=b"x" * 5_000) for number in range(250)])
        came = await received(world.bus.subscription(topic, name), 250)
        assert ids(came) == [f"m-{number}" for number in range(250)]

    async def test_publishing_nothing_is_fine(self, world: BusWorld) -> None:
        topic, name = world.topic, world.subscribe()
        await world.bus.publish(topic, [])
        await world.bus.subscription(topic, name).complete([])
        assert await world.bus.subscription(topic, name).receive(limit=1, wait=0) == []

    async def test_a_locked_message_is_nobody_elses(self, world: BusWorld) -> None:
        topic, name = world.topic, world.subscribe()
        await world.bus.publish(topic, [message(1)])
        await received(world.bus.subscription(topic, name), 1)
        assert await world.bus.subscription(topic, name).receive(limit=1, wait=EMPTY) == []

    async def test_competing_consumers_share_the_messages(self, world: BusWorld) -> None:
        topic, name = world.topic, world.subscribe()
        await world.bus.publish(topic, [message(number) for number in range(60)])

        async def consume() -> list[str]:
            subscription, taken = world.bus.subscription(topic, name), []
            while came := await subscription.receive(limit=7, wait=EMPTY):
                await subscription.complete(came)
                taken += ids(came)
            return taken

        shares = await asyncio.gather(consume(), consume(), consume())
        assert sorted(chain(*shares)) == sorted(f"m-{number}" for number in range(60))

    async def test_two_tasks_may_use_one_subscription(self, world: BusWorld) -> None:
        topic, name = world.topic, world.subscribe()
        await world.bus.publish(topic, [message(number) for number in range(30)])
        subscription, taken = world.bus.subscription(topic, name), []

        async def consume() -> None:
            while came := await subscription.receive(limit=4, wait=EMPTY):
                await subscription.complete(came)
                taken.extend(ids(came))

        await asyncio.gather(consume(), consume())
        assert sorted(taken) == sorted(f"m-{number}" for number in range(30))

    async def test_a_completed_message_is_gone(self, world: BusWorld) -> None:
        topic, name = world.topic, world.subscribe()
        await world.bus.publish(topic, [message(1), message(2)])
        subscription = world.bus.subscription(topic, name)
        await subscription.complete(await received(subscription, 2))
        world.pass_time(world.lock_seconds + 1)
        assert await subscription.receive(limit=2, wait=EMPTY) == []
        assert await subscription.browse() == []

    async def test_a_message_comes_again_when_its_lock_runs_out(self, world: BusWorld) -> None:
        topic, name = world.topic, world.subscribe()
        await world.bus.publish(topic, [message(1)])
        await received(world.bus.subscription(topic, name), 1)
        world.pass_time(world.lock_seconds + 1)
        [again] = await received(world.bus.subscription(topic, name), 1)
        assert again.message.message_id == "m-1"
        assert again.delivery_count == 2

    async def test_completing_without_the_lock_is_passed_over(self, world: BusWorld) -> None:
        topic, name = world.topic, world.subscribe()
        await world.bus.publish(topic, [message(1), message(2)])
        slow, quick = world.bus.subscription(topic, name), world.bus.subscription(topic, name)
        late = await received(slow, 2)
        world.pass_time(world.lock_seconds + 1)
        again = await received(quick, 2)
        await slow.complete(late)
        await slow.abandon(late[0])
        await slow.dead_letter(late[1], reason="Late", description="No longer ours.")
        assert ids(await quick.browse()) == ["m-1", "m-2"]
        await quick.complete(again)
        assert await quick.browse() == []

    async def test_an_abandoned_message_comes_again(self, world: BusWorld) -> None:
        topic, name = world.topic, world.subscribe()
        await world.bus.publish(topic, [message(1)])
        subscription = world.bus.subscription(topic, name)
        for count in (1, 2, 3):
            [delivery] = await received(subscription, 1)
            assert delivery.delivery_count == count
            await subscription.abandon(delivery)

    async def test_an_abandoned_message_comes_again_after_the_delay(self, world: BusWorld) -> None:
        topic, name = world.topic, world.subscribe()
        await world.bus.publish(topic, [message(1)])
        subscription = world.bus.subscription(topic, name)
        [delivery] = await received(subscription, 1)
        await subscription.abandon(delivery, delay=0.5)
        assert await subscription.receive(limit=1, wait=EMPTY) == []
        world.pass_time(0.5)
        assert ids(await received(subscription, 1)) == ["m-1"]

    async def test_a_dead_letter_is_aside_for_good_and_says_why(self, world: BusWorld) -> None:
        topic, name = world.topic, world.subscribe()
        sent = message(1, key="job-1")
        await world.bus.publish(topic, [sent, message(2)])
        subscription = world.bus.subscription(topic, name)
        bad, good = await received(subscription, 2)
        await subscription.dead_letter(bad, reason="FieldMissing", description="FileId is missing.")
        await subscription.complete([good])
        world.pass_time(world.lock_seconds + 1)
        assert await subscription.receive(limit=2, wait=EMPTY) == []
        assert await subscription.browse() == []
        [dead] = await subscription.browse(dead=True)
        assert dead.message == sent
        assert (dead.dead_letter_reason, dead.dead_letter_description) == ("FieldMissing", "FileId is missing.")

    async def test_browsing_takes_nothing(self, world: BusWorld) -> None:
        topic, name = world.topic, world.subscribe()
        await world.bus.publish(topic, [message(number) for number in range(3)])
        subscription = world.bus.subscription(topic, name)
        for _ in range(2):
            assert ids(await subscription.browse()) == ["m-0", "m-1", "m-2"]
        assert [delivery.delivery_count for delivery in await received(subscription, 3)] == [1, 1, 1]
        assert len(await subscription.browse()) == 3

    async def test_browsing_goes_on_after_a_sequence(self, world: BusWorld) -> None:
        topic, name = world.topic, world.subscribe()
        await world.bus.publish(topic, [message(number) for number in range(7)])
        subscription = world.bus.subscription(topic, name)
        seen: list[Recorded] = []
        while page := await subscription.browse(after=seen[-1].sequence if seen else 0, limit=3):
            assert len(page) <= 3
            seen += page
        assert ids(seen) == [f"m-{number}" for number in range(7)]
        assert len({one.sequence for one in seen}) == 7
        assert all(one.dead_letter_reason is None for one in seen)

    async def test_a_record_says_when_it_was_published(self, world: BusWorld) -> None:
        topic, name = world.topic, world.subscribe()
        world_time_may_be_ahead = timedelta(hours=1)
        before = datetime.now(UTC)
        await world.bus.publish(topic, [message(1)])
        [seen] = await world.bus.subscription(topic, name).browse()
        assert timedelta(seconds=-1) <= seen.enqueued_at - before <= world_time_may_be_ahead

    async def test_publishing_the_same_id_twice_is_tolerated(self, world: BusWorld) -> None:
        topic, name = world.topic, world.subscribe()
        await world.bus.publish(topic, [message(1), message(2)])
        await world.bus.publish(topic, [message(2), message(3), message(3)])
        subscription = world.bus.subscription(topic, name)
        seen: list[str] = []
        while came := await subscription.receive(limit=10, wait=EMPTY if seen else SOON):
            seen += ids(came)
            await subscription.complete(came)
        assert list(dict.fromkeys(seen)) == ["m-1", "m-2", "m-3"]
        assert await subscription.browse() == []

    async def test_the_bus_says_that_all_is_well(self, world: BusWorld) -> None:
        await world.bus.check()
