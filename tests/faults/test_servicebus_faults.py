"""Service Bus misbehaves: nothing is lost, ``Unavailable`` is said meanwhile, and all is well afterwards."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Self

import pytest
import pytest_asyncio

from fluxx.adapters.azure.bus import ServiceBus
from fluxx.errors import Unavailable
from fluxx.loops.loop import Loop
from fluxx.ports.bus import Delivery, Message, Subscription
from fluxx.telemetry import LOOP_FAILED, Facts
from servers.servicebus.server import ServiceBusServer
from support.facts import BOUND, FactsHeard
from support.servicebus import running_servicebus

TOPIC, NAME = "accepted-file", "fluxx-extraction"
SOON = 5.0
LOCK_SECONDS = 30.0
FEW = 3


def messages(count: int) -> list[Message]:
    return [Message(message_id=f"m-{number}", body=b"{}", order_key="job-1") for number in range(count)]


def ids(deliveries: Sequence[Delivery]) -> list[str]:
    return [delivery.message.message_id for delivery in deliveries]


@pytest.fixture
def server() -> Iterator[ServiceBusServer]:
    with running_servicebus() as running:
        running.add_topic(TOPIC)
        running.add_subscription(TOPIC, NAME, lock_seconds=LOCK_SECONDS)
        yield running


@pytest_asyncio.fixture
async def bus(server: ServiceBusServer) -> AsyncIterator[ServiceBus]:
    bus = ServiceBus(connection_string=server.connection_string, sends_to=[TOPIC], subscriptions={TOPIC: [NAME]})
    yield bus
    await bus.close()


@pytest.fixture
def subscription(bus: ServiceBus) -> Subscription:
    return bus.subscription(TOPIC, NAME)


async def test_a_broker_that_is_away_is_unavailable_until_it_is_back(
    server: ServiceBusServer, bus: ServiceBus, subscription: Subscription
) -> None:
    await bus.publish(TOPIC, messages(1))
    with server.down():
        for _ in range(2):
            with pytest.raises(Unavailable):
                await bus.publish(TOPIC, messages(2))
            with pytest.raises(Unavailable):
                await subscription.receive(limit=1, wait=SOON)
            with pytest.raises(Unavailable):
                await subscription.browse()
            with pytest.raises(Unavailable):
                await bus.check()
    await bus.check()
    await bus.publish(TOPIC, messages(2))
    assert set(ids(await subscription.receive(limit=9, wait=SOON))) == {"m-0", "m-1"}


async def test_a_dead_connection_is_replaced_unnoticed(
    server: ServiceBusServer, bus: ServiceBus, subscription: Subscription
) -> None:
    await bus.publish(TOPIC, messages(FEW))
    assert await subscription.browse()
    server.drop_connections()
    deliveries = await subscription.receive(limit=FEW, wait=SOON)
    server.drop_connections()
    await bus.publish(TOPIC, [Message(message_id="next", body=b"{}")])
    await subscription.complete(deliveries)
    server.drop_connections()
    assert [one.message.message_id for one in await subscription.browse()] == ["next"]


async def test_a_receive_that_is_waiting_outlives_its_connection(
    server: ServiceBusServer, bus: ServiceBus, subscription: Subscription
) -> None:
    await subscription.receive(limit=1, wait=0)
    waiting = asyncio.create_task(subscription.receive(limit=1, wait=60))
    server.drop_connections()
    await bus.publish(TOPIC, messages(1))
    async with asyncio.timeout(SOON):
        assert ids(await waiting) == ["m-0"]


async def test_what_could_not_be_completed_comes_again(
    server: ServiceBusServer, bus: ServiceBus, subscription: Subscription
) -> None:
    await bus.publish(TOPIC, messages(FEW))
    deliveries = await subscription.receive(limit=FEW, wait=SOON)
    with server.down(), pytest.raises(Unavailable):
        await subscription.complete(deliveries)
    server.pass_time(LOCK_SECONDS + 1)
    again = await subscription.receive(limit=FEW, wait=SOON)
    assert ids(again) == ["m-0", "m-1", "m-2"]
    assert {delivery.delivery_count for delivery in again} == {2}


async def test_refused_sends_store_nothing_and_are_tried_again_by_the_caller(
    server: ServiceBusServer, bus: ServiceBus, subscription: Subscription
) -> None:
    server.refuse_sends(2)
    for _ in range(2):
        with pytest.raises(Unavailable, match="busy"):
            await bus.publish(TOPIC, messages(FEW))
    assert server.count(TOPIC, NAME) == 0
    await bus.publish(TOPIC, messages(FEW))
    assert ids(await subscription.receive(limit=9, wait=SOON)) == ["m-0", "m-1", "m-2"]


async def test_a_lost_acknowledgement_doubles_a_message_under_its_own_id(
    server: ServiceBusServer, bus: ServiceBus, subscription: Subscription
) -> None:
    server.lose_acknowledgements(1)
    with pytest.raises(Unavailable):
        await bus.publish(TOPIC, messages(1))
    await bus.publish(TOPIC, messages(1))
    server.lose_acknowledgements(1)
    await bus.publish(TOPIC, messages(1))
    assert ids(await subscription.receive(limit=9, wait=SOON)) == ["m-0"] * 4


async def test_lost_locks_bring_the_messages_again(
    server: ServiceBusServer, bus: ServiceBus, subscription: Subscription
) -> None:
    await bus.publish(TOPIC, messages(FEW))
    deliveries = await subscription.receive(limit=FEW, wait=SOON)
    server.lose_locks(TOPIC, NAME)
    await subscription.complete(deliveries)
    again = await subscription.receive(limit=FEW, wait=SOON)
    assert ids(again) == ids(deliveries)
    await subscription.complete(again)
    assert server.count(TOPIC, NAME) == 0


async def test_a_completed_message_may_come_again(
    server: ServiceBusServer, bus: ServiceBus, subscription: Subscription
) -> None:
    server.redeliver(TOPIC, NAME, times=1)
    await bus.publish(TOPIC, messages(1))
    for count in (1, 2):
        [delivery] = await subscription.receive(limit=1, wait=SOON)
        assert (delivery.message.message_id, delivery.delivery_count) == ("m-0", count)
        await subscription.complete([delivery])
    assert server.count(TOPIC, NAME) == 0


async def test_a_silent_broker_is_given_up_within_the_bound(server: ServiceBusServer) -> None:
    bus = ServiceBus(connection_string=server.connection_string, operation_seconds=2.0)
    subscription = bus.subscription(TOPIC, NAME)
    await bus.publish(TOPIC, messages(1))
    [delivery] = await subscription.receive(limit=1, wait=SOON)
    with server.silent():
        async with asyncio.timeout(SOON):
            said = await asyncio.gather(
                bus.publish(TOPIC, messages(1)), subscription.complete([delivery]), return_exceptions=True
            )
    assert [str(error).partition(": ")[2] for error in said] == ["no answer in time", "no answer in time"]
    await bus.publish(TOPIC, messages(1))
    await subscription.complete([delivery])
    await bus.close()


async def test_what_is_held_back_is_given_back_when_the_bus_closes(server: ServiceBusServer, bus: ServiceBus) -> None:
    other = ServiceBus(connection_string=server.connection_string)
    holding = other.subscription(TOPIC, NAME)
    await bus.publish(TOPIC, messages(1))
    [delivery] = await holding.receive(limit=1, wait=SOON)
    await holding.abandon(delivery, delay=20.0)
    await other.close()
    assert ids(await bus.subscription(TOPIC, NAME).receive(limit=1, wait=SOON)) == ["m-0"]


class Traffic:
    """A publisher and a consumer, driven by loops as in the service."""

    def __init__(self, bus: ServiceBus, subscription: Subscription, facts: Facts) -> None:
        self.published = 0
        self.consumed: list[str] = []
        self._bus = bus
        self._subscription = subscription
        self._news = asyncio.Condition()
        self._loops = [Loop("publish", self._publish, facts), Loop("consume", self._consume, facts)]
        self._running: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._running = [asyncio.create_task(loop.run()) for loop in self._loops]
        return self

    async def __aexit__(self, *_: object) -> None:
        for loop in self._loops:
            loop.stop()
        await asyncio.gather(*self._running)

    async def more(self, count: int) -> None:
        """Wait until ``count`` more messages were consumed."""
        wanted = len(set(self.consumed)) + count
        async with asyncio.timeout(BOUND), self._news:
            await self._news.wait_for(lambda: len(set(self.consumed)) >= wanted)

    async def finish(self) -> None:
        """Consume what is left, the locked messages too."""
        async with asyncio.timeout(BOUND):
            while len(set(self.consumed)) < self.published:
                await self._consume()

    async def _publish(self) -> float:
        batch = [Message(message_id=str(self.published + number), body=b"{}") for number in range(5)]
        await self._bus.publish(TOPIC, batch)
        self.published += len(batch)
        return 0.02

    async def _consume(self) -> float:
        deliveries = await self._subscription.receive(limit=20, wait=0.2)
        await self._subscription.complete(deliveries)
        async with self._news:
            self.consumed += ids(deliveries)
            self._news.notify_all()
        return 0.0


async def test_traffic_outlives_everything(
    server: ServiceBusServer, bus: ServiceBus, subscription: Subscription
) -> None:
    facts = Facts()
    heard = FactsHeard(facts)
    async with Traffic(bus, subscription, facts) as traffic:
        await traffic.more(20)
        with server.down():
            await heard.wait_for(LOOP_FAILED, loop="publish")
            await heard.wait_for(LOOP_FAILED, loop="consume")
        await traffic.more(20)
        server.drop_connections()
        server.lose_locks(TOPIC, NAME)
        await traffic.more(20)
        server.refuse_sends(1)
        server.lose_acknowledgements(1)
        server.redeliver(TOPIC, NAME, times=3)
        await traffic.more(40)
    server.pass_time(LOCK_SECONDS + 1)
    await traffic.finish()
    assert {str(number) for number in range(traffic.published)} <= set(traffic.consumed)
    assert max(map(int, traffic.consumed)) < traffic.published + 5
