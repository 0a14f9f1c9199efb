"""A platform whose parts can be taken away from a whole service, and how it must speak of that."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import httpx
import msgspec
from azure.core.exceptions import ResourceExistsError
from azure.storage.blob import ContainerClient

from fluxx.adapters.azure.bus import ServiceBus
from fluxx.messages import job_status
from fluxx.ports.bus import Message
from fluxx.settings import Settings
from servers.azure_local import Exports, key_vault, service_bus
from servers.azurite.server import Azurite, connection_string
from servers.gateway import Gateway
from servers.key_vault import KeyVaultServer
from servers.servicebus.server import ServiceBusServer
from support.facts import BOUND

DEFAULTS = Settings.model_construct()
ACCEPTED_FILES = (DEFAULTS.topic_accepted_file, DEFAULTS.accepted_file_subscription)
OFTEN = 0.25
"""Seconds between two looks."""
LOCK = 5.0
"""Seconds, the least that Azure takes: what was locked when a connection broke comes again after that."""
OK, LATE = "ok", "no answer within"
OUTAGE = 10.0
"""Seconds that an outage lasts."""


class Platform(msgspec.Struct, frozen=True):
    """Azure as it is configured by ``exports``; broker and storage are reached through gateways."""

    broker: ServiceBusServer
    broker_gateway: Gateway
    storage: Gateway
    vault: KeyVaultServer
    exports: Exports

    @contextmanager
    def refusing_sends(self) -> Iterator[None]:
        """Let the broker say that it is too busy to take a message."""
        self.broker.refuse_sends(1_000_000)
        try:
            yield
        finally:
            self.broker.refuse_sends(0)

    @asynccontextmanager
    async def without_vault(self) -> AsyncIterator[None]:
        """Let nobody reach the vault."""
        await self.vault.go_away()
        try:
            yield
        finally:
            await self.vault.come_back()

    def results(self, client_application_id: str) -> set[str]:
        """Return the paths of all results stored for a client application."""
        with _container(self.exports["STORAGE_CONNECTION_STRING"]) as container:
            return set(container.list_blob_names(name_starts_with=f"results/{client_application_id}/"))

    async def events(self, count: int, *, of: set[str]) -> list[Message]:
        """Return what was published about jobs of these extractors, once that are ``count`` or more; take none."""
        bus = ServiceBus(connection_string=self.broker.connection_string)
        topic = bus.subscription(DEFAULTS.topic_job_status, DEFAULTS.job_status_subscription)
        mine: list[Message] = []

        async def are_there() -> bool:
            seen = [recorded.message for recorded in await topic.browse(limit=10_000)]
            mine[:] = [message for message in seen if _extractor(message) in of]
            return len({message.message_id for message in mine}) >= count

        await _until(are_there)
        await bus.close()
        return mine

    def redeliver(self, files: int) -> None:
        """Let the broker deliver so many accepted-file messages again although they are completed."""
        self.broker.redeliver(*ACCEPTED_FILES, times=files)

    async def loses_a_lock(self) -> None:
        """Wait until an accepted-file message is being dealt with, and let the broker forget that."""
        await _until(lambda: asyncio.to_thread(self.broker.locked, *ACCEPTED_FILES))
        self.broker.lose_locks(*ACCEPTED_FILES)

    async def all_accepted(self) -> None:
        """Wait until no accepted-file message is left; none may be among the dead letters."""

        async def none_is_left() -> bool:
            return await asyncio.to_thread(self.broker.count, *ACCEPTED_FILES) == 0

        await _until(none_is_left)
        assert not self.broker.count(*ACCEPTED_FILES, dead=True)


@asynccontextmanager
async def running_platform(folder: Path, azurite: Azurite) -> AsyncIterator[Platform]:
    """Run everything that Fluxx uses of Azure, behind what can take it away."""
    with suppress(ResourceExistsError), _container(azurite.connection_string) as container:
        container.create_container()
    with service_bus(lock_seconds=LOCK) as broker:
        async with (
            Gateway(f"sb://127.0.0.1:{broker.port}") as broker_gateway,
            Gateway(azurite.url) as storage,
            key_vault(folder) as (vault, exports),
        ):
            through = broker.connection_string.replace(f"sb://127.0.0.1:{broker.port}", broker_gateway.url)
            exports |= {
                "SERVICE_BUS_CONNECTION_STRING": through,
                "STORAGE_CONNECTION_STRING": connection_string(storage.url),
            }
            yield Platform(broker, broker_gateway, storage, vault, exports)


def _container(setting: str) -> ContainerClient:
    return ContainerClient.from_connection_string(setting, DEFAULTS.storage_container)


async def _until(fact: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(BOUND):
        while True:
            if await fact():
                return
            await asyncio.sleep(OFTEN)


def _extractor(message: Message) -> str:
    return str(job_status.decode(message.body).data.client_application_extractor_id)


async def names_as_wrong(http: httpx.AsyncClient, part: str) -> None:
    """Wait until ``/readyz`` says of this part, and of no other, that it is wrong.

    What didn't answer in time may be well: the tests' machine is slow at times.
    """

    async def is_named() -> bool:
        checks = await _checks(http)
        return {name for name, words in checks.items() if words != OK and not words.startswith(LATE)} == {part}

    await _until(is_named)


async def is_ready(http: httpx.AsyncClient) -> None:
    """Wait until ``/readyz`` says that all is well."""

    async def all_is_well() -> bool:
        return set((await _checks(http)).values()) == {OK}

    await _until(all_is_well)


@asynccontextmanager
async def told_throughout(http: httpx.AsyncClient, part: str, *, seconds: float = OUTAGE) -> AsyncIterator[None]:
    """Stretch an outage of ``part`` to so many seconds, in which ``/readyz`` never stops to name it.

    The block begins once that is said.
    """
    end = asyncio.get_running_loop().time() + seconds
    await names_as_wrong(http, part)
    yield
    while asyncio.get_running_loop().time() < end:
        assert (await _checks(http))[part] != OK
        await asyncio.sleep(OFTEN)


async def _checks(http: httpx.AsyncClient) -> dict[str, str]:
    answer = await http.get("/readyz")
    checks: dict[str, str] = answer.json()["checks"]
    assert answer.status_code == (200 if set(checks.values()) == {OK} else 503)
    return checks
