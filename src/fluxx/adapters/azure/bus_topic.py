"""The sending side of one topic of Service Bus. Used by the bus.

Those who publish at the same time share batches. The topic must not be partitioned: such a one
refuses a batch with messages of several order keys.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

from azure.servicebus import ServiceBusMessageBatch
from azure.servicebus.aio import ServiceBusClient, ServiceBusSender
from azure.servicebus.exceptions import MessageSizeExceededError

from fluxx.adapters.azure.bus_link import Link
from fluxx.adapters.azure.bus_messages import outgoing
from fluxx.errors import TooLarge
from fluxx.loops.gathering import Gatherer
from fluxx.ports.bus import Message

BATCH: Final = 100
"""Messages sent at once, unless the broker's limit on bytes is reached before."""

GATHERED: Final = 50
"""Publishers served together, at most."""


class ServiceBusTopic:
    """Publishes to one topic, over one connection."""

    def __init__(self, client: ServiceBusClient, name: str, *, seconds: float) -> None:
        make = partial(client.get_topic_sender, name)
        self._sending = Link(make, name=f"topic {name}", seconds=seconds)
        self._checking = Link(make, name=f"topic {name}", seconds=seconds)
        self._gatherer: Gatherer[Sequence[Message], None] = Gatherer(self._send, limit=GATHERED)

    async def publish(self, messages: Sequence[Message]) -> None:
        """See ``Publisher.publish``."""
        await self._gatherer.add(messages)

    async def check(self) -> None:
        """Raise ``Misconfigured`` or ``Unavailable`` where nothing can be sent to it now."""
        try:
            await self._checking.check(ServiceBusSender.create_message_batch)
        finally:
            self._checking.drop()

    async def close(self) -> None:
        """Give back the connections."""
        await self._sending.close()
        await self._checking.close()

    async def _send(self, publishes: Sequence[Sequence[Message]]) -> Sequence[None]:
        messages = [message for publish in publishes for message in publish]
        for start in range(0, len(messages), BATCH):
            await self._sending.use(partial(_send_all, messages[start : start + BATCH]))
        return [None] * len(publishes)


async def _send_all(messages: Sequence[Message], sender: ServiceBusSender) -> None:
    """Send messages in as few batches as the broker's limit on bytes allows."""
    batch = await sender.create_message_batch()
    for message in messages:
        if not _fits(message, batch):
            await sender.send_messages(batch)
            batch = await sender.create_message_batch()
            if not _fits(message, batch):
                raise TooLarge(f"Message {message.message_id} is larger than Service Bus takes.")
    await sender.send_messages(batch)


def _fits(message: Message, batch: ServiceBusMessageBatch) -> bool:
    try:
        batch.add_message(outgoing(message))
    except MessageSizeExceededError:
        return False
    return True
