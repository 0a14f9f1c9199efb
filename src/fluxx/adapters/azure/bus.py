"""Azure Service Bus as the bus. Made by the wiring; Microsoft's asynchronous client does the talking."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from azure.core.credentials_async import AsyncTokenCredential
from azure.servicebus.aio import ServiceBusClient

from fluxx.adapters.azure.bus_subscription import ServiceBusSubscription
from fluxx.adapters.azure.bus_topic import ServiceBusTopic
from fluxx.errors import Misconfigured
from fluxx.ports.bus import Message

OPERATION_SECONDS: Final = 7.0


class ServiceBus:
    """Keeps the promises of ``ports.bus.Bus``.

    Connects with ``connection_string``, or to ``namespace`` (…servicebus.windows.net) with
    ``credential``, which stays the caller's to close. ``sends_to`` and ``subscriptions`` (names by
    topic) are what ``check`` looks for. ``operation_seconds`` bounds every operation; two in a row
    must end before the relay's lease does.
    """

    def __init__(
        self,
        *,
        connection_string: str | None = None,
        namespace: str | None = None,
        credential: AsyncTokenCredential | None = None,
        sends_to: Sequence[str] = (),
        subscriptions: Mapping[str, Sequence[str]] | None = None,
        operation_seconds: float = OPERATION_SECONDS,
    ) -> None:
        self._seconds = operation_seconds
        self._client = _client(connection_string, namespace, credential)
        self._sends_to = sends_to
        self._topics: dict[str, ServiceBusTopic] = {}
        self._subscriptions: list[ServiceBusSubscription] = []
        self._watched = [
            self.subscription(topic, name) for topic, names in (subscriptions or {}).items() for name in names
        ]

    async def publish(self, topic: str, messages: Sequence[Message]) -> None:
        """See ``Publisher.publish``. Raises ``TooLarge`` where the topic takes no message of that size."""
        if messages:
            await self._topic(topic).publish(messages)

    def subscription(self, topic: str, name: str) -> ServiceBusSubscription:
        """See ``Bus.subscription``. Asked twice, it returns two consumers that compete."""
        subscription = ServiceBusSubscription(self._client, topic=topic, name=name, seconds=self._seconds)
        self._subscriptions.append(subscription)
        return subscription

    async def check(self) -> None:
        """See ``Bus.check``. Contacts the broker each time; takes about a second where all is well."""
        looks = [self._topic(name).check() for name in self._sends_to]
        looks += [subscription.check() for subscription in self._watched]
        errors = [error for error in await asyncio.gather(*looks, return_exceptions=True) if error is not None]
        wrong = [str(error) for error in errors if isinstance(error, Misconfigured)]
        if wrong:
            raise Misconfigured(" ".join(wrong))
        if errors:
            raise errors[0]

    async def close(self) -> None:
        """See ``Bus.close``."""
        closing = [topic.close() for topic in self._topics.values()]
        await asyncio.gather(*closing, *(subscription.close() for subscription in self._subscriptions))

    def _topic(self, name: str) -> ServiceBusTopic:
        if name not in self._topics:
            self._topics[name] = ServiceBusTopic(self._client, name, seconds=self._seconds)
        return self._topics[name]


def _client(
    connection_string: str | None, namespace: str | None, credential: AsyncTokenCredential | None
) -> ServiceBusClient:
    """Return Microsoft's client, told not to retry: the loops do, at their pace."""
    if connection_string is not None:
        try:
            return ServiceBusClient.from_connection_string(connection_string, retry_total=0)
        except ValueError as error:
            raise Misconfigured(f"SERVICE_BUS_CONNECTION_STRING: {error}") from None
    if namespace is None or credential is None:
        raise Misconfigured("Service Bus needs a connection string, or a namespace and an identity.")
    return ServiceBusClient(namespace, credential, retry_total=0)
