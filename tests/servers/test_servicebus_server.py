"""What the Service Bus server keeps beyond the port's promises, seen through Microsoft's client."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from azure.servicebus import ServiceBusMessage, ServiceBusReceiveMode
from azure.servicebus.aio import ServiceBusClient, ServiceBusReceiver, ServiceBusSender
from azure.servicebus.exceptions import MessageLockLostError

from servers.servicebus.server import ServiceBusServer
from support.servicebus import running_servicebus

LOCK_SECONDS = 30.0


@pytest.fixture
def server() -> Iterator[ServiceBusServer]:
    with running_servicebus() as running:
        running.add_topic("topic", drop_duplicates=True)
        running.add_subscription("topic", "s", lock_seconds=LOCK_SECONDS)
        yield running


@pytest_asyncio.fixture
async def client(server: ServiceBusServer) -> AsyncIterator[ServiceBusClient]:
    async with ServiceBusClient.from_connection_string(server.connection_string, retry_total=0) as client:
        yield client


@pytest.fixture
def sender(client: ServiceBusClient) -> ServiceBusSender:
    return client.get_topic_sender("topic")


@pytest_asyncio.fixture
async def receiver(client: ServiceBusClient) -> AsyncIterator[ServiceBusReceiver]:
    # Opened here: the first receive's wait would bound the opening as well.
    async with client.get_subscription_receiver("topic", "s") as receiver:
        yield receiver


async def test_scheduled_messages_come_at_their_time(
    server: ServiceBusServer, sender: ServiceBusSender, receiver: ServiceBusReceiver
) -> None:
    at = datetime.now(UTC) + timedelta(minutes=5)
    kept, cancelled = await sender.schedule_messages(
        [ServiceBusMessage("kept", message_id="1"), ServiceBusMessage("cancelled", message_id="2")], at
    )
    await sender.send_messages(ServiceBusMessage("with a time", message_id="3", scheduled_enqueue_time_utc=at))
    await sender.cancel_scheduled_messages(cancelled)
    assert await receiver.receive_messages(5, max_wait_time=0.2) == []
    server.pass_time(301)
    came = await receiver.receive_messages(5, max_wait_time=5)
    assert [message.message_id for message in came] == ["1", "3"]
    assert came[0].sequence_number == kept


async def test_a_renewed_lock_lasts_and_a_lost_one_is_said(
    server: ServiceBusServer, sender: ServiceBusSender, receiver: ServiceBusReceiver
) -> None:
    await sender.send_messages(ServiceBusMessage("x", message_id="1"))
    [message] = await receiver.receive_messages(1, max_wait_time=5)
    server.pass_time(LOCK_SECONDS - 5)
    await receiver.renew_message_lock(message)
    server.pass_time(LOCK_SECONDS - 5)
    await receiver.renew_message_lock(message)
    server.pass_time(LOCK_SECONDS + 1)
    with pytest.raises(MessageLockLostError):
        await receiver.renew_message_lock(message)
    with pytest.raises(MessageLockLostError):
        await receiver.complete_message(message)


async def test_duplicates_are_dropped_by_id_where_the_topic_does_so(
    server: ServiceBusServer, sender: ServiceBusSender
) -> None:
    for _ in range(2):
        await sender.send_messages([ServiceBusMessage("x", message_id="1"), ServiceBusMessage("x", message_id="2")])
    assert server.count("topic", "s") == 2


async def test_receive_and_delete_needs_no_settling(
    server: ServiceBusServer, client: ServiceBusClient, sender: ServiceBusSender
) -> None:
    await sender.send_messages(ServiceBusMessage("x", message_id="1"))
    receiver = client.get_subscription_receiver("topic", "s", receive_mode=ServiceBusReceiveMode.RECEIVE_AND_DELETE)
    assert len(await receiver.receive_messages(1, max_wait_time=5)) == 1
    assert server.count("topic", "s") == 0


async def test_a_message_of_many_frames_comes_whole(sender: ServiceBusSender, receiver: ServiceBusReceiver) -> None:
    body = os.urandom(200_000)
    await sender.send_messages(ServiceBusMessage(body, message_id="1"))
    [message] = await receiver.receive_messages(1, max_wait_time=5)
    assert b"".join(message.body) == body


def test_it_runs_by_hand() -> None:
    command = [sys.executable, "-m", "servers.servicebus", "accepted-file/fluxx-extraction", "job-status"]
    tests = str(Path(__file__).parents[1])
    with subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": tests}, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        process.terminate()
    assert line.startswith("Endpoint=sb://127.0.0.1:")
