"""The broker: topics by name, what an address means, and the faults that tests switch on."""

import time
from collections.abc import Iterator

import msgspec

from servers.servicebus.messages import BusMessage
from servers.servicebus.queues import Queue, Topic

DEAD_LETTERS = "$deadletterqueue"
MANAGEMENT = "$management"


class Refused(Exception):
    """A send or a request that the broker turns down: an AMQP condition, and words for a person."""

    def __init__(self, condition: str, description: str) -> None:
        super().__init__(description)
        self.condition = condition
        self.description = description


class Faults(msgspec.Struct):
    """What goes wrong on purpose; counts go down as they take effect."""

    refused_sends: int = 0
    lost_acknowledgements: int = 0  # sends that are stored, after which the connection dies
    refused_tokens: int = 0
    silent: bool = False  # what arrives is not even read


class Broker:
    """Topics and their subscriptions. Used from the server's event loop only."""

    def __init__(self) -> None:
        self.topics: dict[str, Topic] = {}
        self.faults = Faults()
        self.ahead = 0.0

    def now(self) -> float:
        """Return seconds since 1970; tests let time jump ahead."""
        return time.time() + self.ahead

    def queues(self) -> Iterator[Queue]:
        """Yield every subscription and every dead-letter queue."""
        for topic in self.topics.values():
            for queue in topic.subscriptions.values():
                yield queue
                if queue.dead is not None:
                    yield queue.dead

    def topic(self, address: str) -> Topic:
        """Return the topic at ``address``, which is a path or a URL."""
        path = _path(address)
        if path not in self.topics:
            raise Refused("amqp:not-found", f"The messaging entity '{address}' could not be found.")
        return self.topics[path]

    def queue(self, address: str) -> Queue:
        """Return the subscription, or its dead-letter queue, at ``address``."""
        name, _, rest = _path(address).partition("/subscriptions/")
        subscription, _, sub_queue = rest.partition("/")
        topic = self.topics.get(name)
        queue = topic.subscriptions.get(subscription) if topic else None
        found = queue.dead if queue is not None and sub_queue == DEAD_LETTERS else queue
        if found is None:
            raise Refused("amqp:not-found", f"The messaging entity '{address}' could not be found.")
        return found

    def publish(self, topic: Topic, messages: list[BusMessage]) -> None:
        """Store messages, all or none."""
        if self.faults.refused_sends:
            self.faults.refused_sends -= 1
            raise Refused("com.microsoft:server-busy", "The server is busy. Please wait and try again.")
        for message in messages:
            topic.publish(message, self.now())

    def wake(self) -> None:
        """Let time pass for every queue: locks run out, scheduled messages become available."""
        now = self.now()
        for queue in self.queues():
            queue.wake(now)


def _path(address: str) -> str:
    _, scheme, rest = address.partition("://")
    path = rest.partition("/")[2] if scheme else address
    return path.lower().removesuffix("/" + MANAGEMENT)
