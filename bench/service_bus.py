"""Service Bus: accepted-file messages through our adapter, beside Microsoft's bare client.

The same work for both, over the same server (tests/servers/servicebus, on the other core): publish
MESSAGES messages in batches of 100; receive and complete them; publish one at a time from 100 tasks;
and how long a single message takes from publish to receive. Run in turn; medians of ROUNDS; the
ratio is what counts.
"""

import asyncio
import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from azure.servicebus import ServiceBusMessage
from azure.servicebus.aio import ServiceBusClient

from fluxx.adapters.azure.bus import ServiceBus
from fluxx.messages import accepted_file
from fluxx.messages.accepted_file import AcceptedFile
from fluxx.ports.bus import Message
from machine import OTHER_CORE, WORK_CORE, program
from report import save, table

MESSAGES, BATCH, ROUNDS, TASKS, SINGLES = 1000, 100, 5, 100, 20
TOPIC, NAME = "accepted-file", "fluxx-extraction"
TESTS = Path(__file__).parents[1] / "tests"


def message() -> Message:
    body = accepted_file.encode(AcceptedFile(file_id=uuid4(), client_application_id=uuid4()))
    return Message(message_id=str(uuid4()), body=body)


class Bare:
    """Microsoft's client as its documentation shows it."""

    def __init__(self, connection_string: str) -> None:
        self._client = ServiceBusClient.from_connection_string(connection_string)
        self._sender = self._client.get_topic_sender(TOPIC)
        self._receiver = self._client.get_subscription_receiver(TOPIC, NAME)
        self._lock = asyncio.Lock()

    async def publish(self, messages: list[Message]) -> None:
        outgoing = [
            ServiceBusMessage(one.body, message_id=one.message_id, content_type=one.content_type) for one in messages
        ]
        async with self._lock:
            await self._sender.send_messages(outgoing)

    async def consume(self) -> int:
        received = await self._receiver.receive_messages(BATCH, max_wait_time=5)
        for one in received:
            assert one.message_id
            assert b"".join(one.body)
            await self._receiver.complete_message(one)
        return len(received)

    async def close(self) -> None:
        await self._client.close()


class Ours:
    """The adapter."""

    def __init__(self, connection_string: str) -> None:
        self._bus = ServiceBus(connection_string=connection_string)
        self._subscription = self._bus.subscription(TOPIC, NAME)

    async def publish(self, messages: list[Message]) -> None:
        await self._bus.publish(TOPIC, messages)

    async def consume(self) -> int:
        received = await self._subscription.receive(limit=BATCH, wait=5)
        await self._subscription.complete(received)
        return len(received)

    async def close(self) -> None:
        await self._bus.close()


Client = Bare | Ours
Work = Callable[[Client], Awaitable[None]]


async def publish_in_batches(client: Client) -> None:
    for _ in range(MESSAGES // BATCH):
        await client.publish([message() for _ in range(BATCH)])


async def consume_all(client: Client) -> None:
    left = MESSAGES
    while left:
        left -= await client.consume()


async def publish_from_many_tasks(client: Client) -> None:
    async def one_after_another() -> None:
        for _ in range(MESSAGES // TASKS):
            await client.publish([message()])

    await asyncio.gather(*(one_after_another() for _ in range(TASKS)))


async def one_there_and_back(client: Client) -> None:
    for _ in range(SINGLES):
        await client.publish([message()])
        assert await client.consume() == 1


STEPS: list[tuple[str, Work, int]] = [
    ("publish, 100 at a time", publish_in_batches, MESSAGES),
    ("receive and complete", consume_all, MESSAGES),
    ("publish, one each from 100 tasks", publish_from_many_tasks, MESSAGES),
    ("receive and complete, again", consume_all, MESSAGES),
    ("one at a time, there and back", one_there_and_back, SINGLES),
]


async def measure(connection_string: str, make: Callable[[str], Client]) -> list[tuple[float, float]]:
    """Return wall and CPU seconds per message of each step."""
    client = make(connection_string)
    await client.publish([message()])
    assert await client.consume() == 1
    figures = []
    for _, work, count in STEPS:
        start, cpu = time.perf_counter(), time.process_time()
        await work(client)
        figures.append(((time.perf_counter() - start) / count, (time.process_time() - cpu) / count))
    await client.close()
    return figures


@contextmanager
def server() -> Iterator[str]:
    command = [sys.executable, "-m", "servers.servicebus", f"{TOPIC}/{NAME}"]
    with program(command, core=OTHER_CORE, environment={"PYTHONPATH": str(TESTS)}) as child:
        yield child.stdout.readline().strip()


def main() -> None:
    os.sched_setaffinity(0, {WORK_CORE})
    runs: dict[str, list[list[tuple[float, float]]]] = {"bare": [], "ours": []}
    with server() as connection_string:
        for _ in range(ROUNDS):
            runs["bare"].append(asyncio.run(measure(connection_string, Bare)))
            runs["ours"].append(asyncio.run(measure(connection_string, Ours)))
    rows, kept = [], {}
    for step, (name, _, _) in enumerate(STEPS):
        kept[name] = {who: medians([run[step] for run in results]) for who, results in runs.items()}
        (bare, bare_cpu), (ours, ours_cpu) = kept[name].values()
        rate = [f"{1 / bare:,.0f}", f"{1 / ours:,.0f}", f"{bare / ours:.2f}"]
        rows.append([name, *rate, f"{bare_cpu * 1e6:,.0f}", f"{ours_cpu * 1e6:,.0f}", f"{ours_cpu / bare_cpu:.2f}"])
    table(["step", "bare /s", "ours /s", "ratio", "bare µs CPU", "ours µs CPU", "ratio"], rows)
    save("service_bus", kept)


def medians(figures: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the medians of wall and CPU time."""
    wall, cpu = zip(*figures, strict=True)
    return statistics.median(wall), statistics.median(cpu)


if __name__ == "__main__":
    main()
