"""The bus's promises, kept by Service Bus and by the database."""

from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta
from itertools import count
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

import pytest
import pytest_asyncio
from azure.servicebus import ServiceBusMessage, ServiceBusReceivedMessage
from azure.servicebus.aio import ServiceBusClient
from azure.servicebus.amqp import AmqpMessageBodyType

from contracts.bus import BusContract, message, received
from fluxx.adapters.azure import bus_messages
from fluxx.adapters.azure.bus import ServiceBus
from fluxx.adapters.azure.bus_messages import TRACE
from fluxx.adapters.sql.bus import LOCK_SECONDS
from fluxx.adapters.sql.database import SqlDatabase
from fluxx.adapters.sql.engine import make_engine
from fluxx.clock import SystemClock
from fluxx.errors import Misconfigured, TooLarge, Unavailable
from fluxx.telemetry import Facts
from servers.servicebus.server import ServiceBusServer
from support.databases import DIALECTS, Databases
from support.servicebus import running_servicebus

TOPIC = "topic"
numbers = count(1)


class ServiceBusWorld:
    lock_seconds = 30.0

    def __init__(self, server: ServiceBusServer, bus: ServiceBus) -> None:
        self.server = server
        self.bus = bus
        self.topic = TOPIC

    def subscribe(self, *, max_deliveries: int = 10) -> str:
        name = f"subscription-{next(numbers)}"
        self.server.add_subscription(self.topic, name, lock_seconds=self.lock_seconds, max_deliveries=max_deliveries)
        return name

    def pass_time(self, seconds: float) -> None:
        self.server.pass_time(seconds)


class JumpingClock:
    """The machine's clock, ahead by what tests add."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return SystemClock().now() + self.ahead


class DatabaseWorld:
    lock_seconds = LOCK_SECONDS

    def __init__(self, database: SqlDatabase, clock: JumpingClock) -> None:
        self._clock = clock
        self._names: list[str] = []
        self.topic = TOPIC
        self.bus = database.bus({TOPIC: self._names})

    def subscribe(self) -> str:
        self._names.append(f"subscription-{next(numbers)}")
        return self._names[-1]

    def pass_time(self, seconds: float) -> None:
        self._clock.ahead += timedelta(seconds=seconds)


@pytest.fixture(scope="module")
def server() -> Iterator[ServiceBusServer]:
    with running_servicebus() as running:
        yield running


# One event loop and one bus for them all: Microsoft's client takes a second to say farewell.
@pytest.mark.asyncio(loop_scope="module")
class TestServiceBus(BusContract):
    @pytest_asyncio.fixture(scope="module", loop_scope="module")
    @classmethod
    async def bus(cls, server: ServiceBusServer) -> AsyncIterator[ServiceBus]:
        server.add_topic(TOPIC)
        server.add_subscription(TOPIC, "s")
        bus = ServiceBus(connection_string=server.connection_string, sends_to=[TOPIC], subscriptions={TOPIC: ["s"]})
        yield bus
        await bus.close()

    @pytest.fixture
    def world(self, server: ServiceBusServer, bus: ServiceBus) -> ServiceBusWorld:
        return ServiceBusWorld(server, bus)

    async def test_too_many_deliveries_make_a_dead_letter(self, world: ServiceBusWorld) -> None:
        subscription = world.bus.subscription(world.topic, world.subscribe(max_deliveries=2))
        await world.bus.publish(world.topic, [message(1)])
        for _ in range(2):
            [delivery] = await received(subscription, 1)
            await subscription.abandon(delivery)
        [dead] = await subscription.browse(dead=True)
        assert dead.dead_letter_reason == "MaxDeliveryCountExceeded"

    async def test_a_message_that_no_batch_holds_is_too_large_and_hurts_no_other(self, world: ServiceBusWorld) -> None:
        subscription = world.bus.subscription(world.topic, world.subscribe())
        with pytest.raises(TooLarge, match="m-1 is larger"):
            await world.bus.publish(world.topic, [message(1, body=b"x" * 2_000_000)])
        await world.bus.publish(world.topic, [message(2)])
        [delivery] = await received(subscription, 1)
        assert delivery.message.message_id == "m-2"

    @pytest.mark.parametrize("trace", ["not one", 7, 0.5, True])
    async def test_a_property_of_an_odd_kind_keeps_no_message_back(
        self, server: ServiceBusServer, world: ServiceBusWorld, trace: Any
    ) -> None:
        subscription = world.bus.subscription(world.topic, world.subscribe())
        async with (
            ServiceBusClient.from_connection_string(server.connection_string) as client,
            client.get_topic_sender(world.topic) as sender,
        ):
            await sender.send_messages(ServiceBusMessage("{}", message_id="odd", application_properties={TRACE: trace}))
        await world.bus.publish(world.topic, [message(1)])
        assert {one.message.message_id for one in await received(subscription, 2)} == {"odd", "m-1"}

    @pytest.mark.parametrize("odd", [b"\xff", b"\xe9t\xe9", 7, uuid4(), b"", None])
    async def test_what_others_set_can_not_keep_a_message_from_being_received(self, odd: Any) -> None:
        """Microsoft's client hands out as it is what it can't decode, and sends nothing like it."""
        texts = dict.fromkeys(("message_id", "session_id", "content_type"), odd)
        properties = dict.fromkeys((TRACE.encode(), b"DeadLetterReason", b"DeadLetterErrorDescription"), odd)
        numbers = {"sequence_number": 5, "delivery_count": 0, "enqueued_time_utc": None}
        data = {"body": [b"{", b"}"], "body_type": AmqpMessageBodyType.DATA, "application_properties": properties}
        made = cast("ServiceBusReceivedMessage", SimpleNamespace(**texts, **numbers, **data))
        for read in (bus_messages.delivery(made).message, bus_messages.recorded(made).message):
            assert read.body == b"{}"
            assert read.message_id
            assert {type(text) for text in (read.message_id, read.content_type)} == {str}


async def test_everything_missing_is_named_at_once(server: ServiceBusServer) -> None:
    server.add_topic("there")
    wanted = {"there": ["gone"], "nowhere": ["s"]}
    bus = ServiceBus(connection_string=server.connection_string, sends_to=["there", "away"], subscriptions=wanted)
    with pytest.raises(Misconfigured) as caught:
        await bus.check()
    assert str(caught.value) == (
        "Service Bus has no topic away. Service Bus has no subscription gone of topic there. "
        "Service Bus has no subscription s of topic nowhere."
    )
    await bus.close()


async def test_refused_credentials_are_a_matter_of_settings(server: ServiceBusServer) -> None:
    server.add_topic("there")
    bus = ServiceBus(connection_string=server.connection_string, sends_to=["there"])
    server.refuse_tokens(1)
    with pytest.raises(Misconfigured, match="forbids the use of topic there"):
        await bus.check()
    await bus.check()
    await bus.close()


async def test_a_broker_that_is_away_is_unavailable(server: ServiceBusServer) -> None:
    server.add_topic("there")
    bus = ServiceBus(connection_string=server.connection_string, sends_to=["there"])
    with server.down(), pytest.raises(Unavailable, match="Service Bus, topic there"):
        await bus.check()
    await bus.check()
    await bus.close()


@pytest.mark.parametrize("text", ["", "nonsense", "Endpoint=sb://x/;SharedAccessKeyName=a"])
def test_a_connection_string_that_is_none_is_refused_by_its_setting(text: str) -> None:
    with pytest.raises(Misconfigured, match="SERVICE_BUS_CONNECTION_STRING"):
        ServiceBus(connection_string=text)


class TestDatabaseBus(BusContract):
    # One database for them all: subscriptions of their own keep the tests apart.
    @pytest.fixture(scope="class", params=DIALECTS)
    @classmethod
    def url(
        cls, request: pytest.FixtureRequest, databases: Databases, tmp_path_factory: pytest.TempPathFactory
    ) -> Iterator[str]:
        with databases.of(request.param, tmp_path_factory.mktemp("bus")) as url:
            yield url

    @pytest_asyncio.fixture
    async def world(self, url: str) -> AsyncIterator[DatabaseWorld]:
        clock = JumpingClock()
        async with SqlDatabase(make_engine(url), clock=clock, facts=Facts()) as database:
            yield DatabaseWorld(database, clock)
