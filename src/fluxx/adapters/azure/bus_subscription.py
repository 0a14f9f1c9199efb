"""A subscription of Service Bus: peek-lock, settled in sequence on the receiver, browsed by peeking.

Sequence because the client slows down a hundredfold when it settles side by side. A message whose
link broke meanwhile is settled by its lock token on the new link.

Each abandoned delivery counts towards the subscription's MaxDeliveryCount, after which the broker
dead-letters the message by itself: set it high (2,000 is the most), Fluxx finds poison on its own.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Final, cast

from azure.servicebus import ServiceBusReceivedMessage, ServiceBusSubQueue
from azure.servicebus.aio import ServiceBusClient, ServiceBusReceiver
from azure.servicebus.exceptions import MessageAlreadySettled, MessageLockLostError

from fluxx.adapters.azure.bus_link import Link
from fluxx.adapters.azure.bus_messages import delivery, recorded
from fluxx.errors import Unavailable
from fluxx.ports.bus import Delivery, Recorded

POLL_SECONDS: Final = 0.05
"""How often the client looks up from its socket."""

LINGER_SECONDS: Final = 0.1
"""How long a group of messages waits for the next one."""

SLICE_SECONDS: Final = 0.5
"""Longest stretch of waiting for messages: others who want to settle wait as long."""

SETTLE_SECONDS: Final = 0.1
"""Allowed for each message of a group, on top of the bound of every operation."""

LOCK_MARGIN: Final = 2.0
"""Seconds before the end of its lock at which a held message is given back."""

Settle = Callable[[ServiceBusReceiver, ServiceBusReceivedMessage], Awaitable[None]]


class ServiceBusSubscription:
    """Keeps the promises of ``ports.bus.Subscription``."""

    def __init__(self, client: ServiceBusClient, *, topic: str, name: str, seconds: float) -> None:
        said = f"subscription {name} of topic {topic}"
        make = partial(client.get_subscription_receiver, topic, name, socket_timeout=POLL_SECONDS)
        self._alive = Link(make, name=said, seconds=seconds)
        make_dead = partial(make, sub_queue=ServiceBusSubQueue.DEAD_LETTER)
        self._dead = Link(make_dead, name=f"dead letters of {said}", seconds=seconds)
        self._held: list[tuple[float, ServiceBusReceivedMessage]] = []

    async def receive(self, *, limit: int, wait: float) -> Sequence[Delivery]:
        """See ``Subscription.receive``."""
        loop = asyncio.get_running_loop()
        end = loop.time() + wait
        while True:
            seconds = min(max(end - loop.time(), POLL_SECONDS), SLICE_SECONDS)
            received = await self._alive.use(lambda receiver: self._look(receiver, limit, seconds))  # noqa: B023 - awaited here
            if received or loop.time() >= end:
                return [delivery(one) for one in received]

    async def _look(
        self, receiver: ServiceBusReceiver, limit: int, seconds: float
    ) -> Sequence[ServiceBusReceivedMessage]:
        await self._give_back_held(receiver, until=asyncio.get_running_loop().time())
        found = await receiver.receive_messages(1, max_wait_time=seconds)
        asked = 1
        while len(found) == asked and asked < limit:
            # Twice as many each time: what is asked for and doesn't come now would come between two
            # calls, when the client hands it back to the broker, to be sent again and again.
            more = min(asked + 1, limit - asked)
            found += await receiver.receive_messages(more, max_wait_time=LINGER_SECONDS)
            asked += more
        return found

    async def complete(self, deliveries: Sequence[Delivery]) -> None:
        """See ``Subscription.complete``. Where the broker goes away midway, the rest comes again."""
        await self._settle(deliveries, ServiceBusReceiver.complete_message)

    async def abandon(self, delivery: Delivery, *, delay: float = 0.0) -> None:
        """See ``Subscription.abandon``.

        Service Bus knows no delay: the message is held here under its lock, as long as that lasts,
        and given back by a later ``receive``.
        """
        held = min(delay, _lock_seconds(_received(delivery)) - LOCK_MARGIN)
        if held > 0:
            self._held.append((asyncio.get_running_loop().time() + held, _received(delivery)))
        else:
            await self._settle([delivery], ServiceBusReceiver.abandon_message)

    async def dead_letter(self, delivery: Delivery, *, reason: str, description: str) -> None:
        """See ``Subscription.dead_letter``."""

        async def bury(receiver: ServiceBusReceiver, received: ServiceBusReceivedMessage) -> None:
            await receiver.dead_letter_message(received, reason=reason, error_description=description)

        await self._settle([delivery], bury)

    async def browse(self, *, after: int = 0, limit: int = 100, dead: bool = False) -> Sequence[Recorded]:
        """See ``Subscription.browse``. Service Bus may answer with fewer than there are, so it is asked again."""
        link = self._dead if dead else self._alive
        found: list[Recorded] = []
        while len(found) < limit:
            ask = partial(
                ServiceBusReceiver.peek_messages,
                max_message_count=limit - len(found),
                sequence_number=(found[-1].sequence if found else after) + 1,
            )
            peeked = await link.use(ask)
            if not peeked:
                break
            found += [recorded(one) for one in peeked]
        return found

    async def check(self) -> None:
        """Raise ``Misconfigured`` or ``Unavailable`` where nothing can be read from it now."""
        await self._alive.check(partial(ServiceBusReceiver.peek_messages, max_message_count=1, sequence_number=1))

    async def close(self) -> None:
        """Give back what is held, then the connections."""
        if self._held:
            with suppress(Unavailable):
                await self._alive.use(lambda receiver: self._give_back_held(receiver, until=float("inf")))
        await asyncio.gather(self._alive.close(), self._dead.close())

    async def _settle(self, deliveries: Sequence[Delivery], settle: Settle) -> None:
        async def settle_all(receiver: ServiceBusReceiver) -> None:
            for one in deliveries:
                await _settle_one(receiver, _received(one), settle)

        await self._alive.use(settle_all, longer=SETTLE_SECONDS * len(deliveries))

    async def _give_back_held(self, receiver: ServiceBusReceiver, *, until: float) -> None:
        due = [held for held in self._held if held[0] <= until]
        self._held = [held for held in self._held if held[0] > until]
        for _, received in due:
            await _settle_one(receiver, received, ServiceBusReceiver.abandon_message)


async def _settle_one(receiver: ServiceBusReceiver, received: ServiceBusReceivedMessage, settle: Settle) -> None:
    """Settle a message unless its lock is lost, or an attempt before this one has settled it."""
    with suppress(MessageLockLostError, MessageAlreadySettled):
        await settle(receiver, received)


def _received(delivery: Delivery) -> ServiceBusReceivedMessage:
    return cast("ServiceBusReceivedMessage", delivery.lock)


def _lock_seconds(received: ServiceBusReceivedMessage) -> float:
    end = received.locked_until_utc
    return (end - datetime.now(UTC)).total_seconds() if end else 0.0
