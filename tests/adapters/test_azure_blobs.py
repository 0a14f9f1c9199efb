"""The blob stores' promises, kept by Azurite with the account's key and with an identity; and what each adds."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime, timedelta
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest
import pytest_asyncio
from azure.storage.blob.aio import BlobServiceClient

from contracts.blobs import (
    JSON,
    MIB,
    BlobsContract,
    BlobsWorld,
    content_of,
    file_path,
    in_an_hour,
    pieces,
    read,
    result_path,
)
from fluxx.adapters.azure import blobs as azure_blobs
from fluxx.adapters.azure.identity import BoundedCredential
from fluxx.clock import Clock, SystemClock
from fluxx.errors import Misconfigured, Unavailable
from fluxx.ports.blobs import Blobs
from servers.azurite.server import Azurite, connection_string
from servers.gateway import Gateway
from servers.identity import IdentityServer
from support.azure import transport

CONTAINER = "results"
THE_CLOCK = SystemClock()


class JumpingClock:
    """The machine's clock, ahead by what tests add."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return THE_CLOCK.now() + self.ahead


async def key_of_url(blobs: Blobs, clock: Clock = THE_CLOCK) -> str:
    """Sign a URL for an hour; return the start of its key's life, by which keys can be told apart."""
    url = await blobs.signed_url(file_path(), expires_at=clock.now() + timedelta(hours=1))
    return parse_qs(urlsplit(url).query)["skt"][0]


class AzureMaker(Protocol):
    """Makes the adapter for a blob server reached at another URL."""

    def __call__(
        self, url: str, container: str = CONTAINER, clock: Clock = THE_CLOCK
    ) -> AbstractAsyncContextManager[azure_blobs.AzureBlobs]: ...


class AzureContract(BlobsContract):
    async def test_the_content_type_is_kept(self, world: BlobsWorld) -> None:
        path = file_path()
        for content in (b"%PDF", pieces(content_of(5 * MIB))):
            await world.blobs.write(path, content, content_type="application/pdf")
            async with world.client.get(await world.blobs.signed_url(path, expires_at=in_an_hour())) as answer:
                assert answer.content_type == "application/pdf"

    async def test_a_container_that_is_not_there_is_named(self, making: AzureMaker, azurite_url: str) -> None:
        async with making(azurite_url, "elsewhere") as blobs:
            with pytest.raises(Misconfigured, match=r"STORAGE_CONTAINER.*no container elsewhere"):
                await blobs.check()
            with pytest.raises(Unavailable, match="ContainerNotFound"):
                await read(blobs, "a")
            with pytest.raises(Unavailable, match="ContainerNotFound"):
                await blobs.write("a", b"{}", content_type=JSON)


@asynccontextmanager
async def container_at(client: BlobServiceClient) -> AsyncIterator[None]:
    async with client:
        container = client.get_container_client(CONTAINER)
        if not await container.exists():
            await container.create_container()
        yield


class TestAzureByKey(AzureContract):
    @pytest.fixture
    def azurite_url(self, azurite: Azurite) -> str:
        return azurite.url

    @pytest.fixture
    def making(self) -> AzureMaker:
        @asynccontextmanager
        async def made(
            url: str, container: str = CONTAINER, clock: Clock = THE_CLOCK
        ) -> AsyncIterator[azure_blobs.AzureBlobs]:
            assert clock is THE_CLOCK, "an account's key knows no time"
            blobs = azure_blobs.by_connection_string(connection_string(url), container=container)
            yield blobs
            await blobs.close()

        return made

    @pytest_asyncio.fixture
    async def world(self, azurite: Azurite, making: AzureMaker) -> AsyncIterator[BlobsWorld]:
        async with (
            container_at(BlobServiceClient.from_connection_string(azurite.connection_string)),
            making(azurite.url) as blobs,
            aiohttp.ClientSession() as client,
        ):
            yield BlobsWorld(blobs, client)

    async def test_a_short_spell_of_503_is_sat_out(
        self, world: BlobsWorld, azurite: Azurite, making: AzureMaker
    ) -> None:
        path = result_path()
        async with Gateway(azurite.url) as gateway, making(gateway.url) as blobs:
            gateway.busy_for(2)
            await blobs.write(path, b"{}", content_type=JSON)
            assert gateway.requests == 2
            gateway.busy_for(2)
            assert await read(blobs, path) == b"{}"
        assert await read(world.blobs, path) == b"{}"

    async def test_a_long_spell_of_503_is_unavailable_and_passes(
        self, world: BlobsWorld, azurite: Azurite, making: AzureMaker
    ) -> None:
        path, content = result_path(), content_of(5 * MIB)
        async with Gateway(azurite.url) as gateway, making(gateway.url) as blobs:
            await blobs.write(path, b"old", content_type=JSON)
            with gateway.busy():
                with pytest.raises(Unavailable, match="503 ServerBusy"):
                    await blobs.check()
                assert gateway.requests == 1, "a check asks once"
                ends = await asyncio.gather(
                    blobs.write(path, b"{}", content_type=JSON),
                    blobs.write(path, pieces(content), content_type=JSON),
                    read(blobs, path),
                    blobs.delete(path),
                    return_exceptions=True,
                )
            assert [type(end) for end in ends] == [Unavailable] * 4
            assert all("503 ServerBusy" in str(end) for end in ends)
            assert await read(blobs, path) == b"old"
            await blobs.write(path, pieces(content), content_type=JSON)
            await blobs.check()
        assert await read(world.blobs, path) == content

    async def test_a_server_that_is_away_is_unavailable_soon(self, azurite: Azurite, making: AzureMaker) -> None:
        started = time.monotonic()
        async with Gateway(azurite.url) as gateway, making(gateway.url) as blobs:
            with gateway.away(), pytest.raises(Unavailable):
                await blobs.write("a", b"{}", content_type=JSON)
        assert time.monotonic() - started < 15

    async def test_a_wrong_key_is_a_matter_of_settings(self, azurite: Azurite) -> None:
        wrong = azurite.connection_string.replace("AccountKey=Eby8", "AccountKey=AAAA")
        blobs = azure_blobs.by_connection_string(wrong, container=CONTAINER)
        with pytest.raises(Misconfigured, match="403"):
            await blobs.check()
        await blobs.close()

    @pytest.mark.parametrize(
        "text", ["", "nonsense", "AccountName=a", "BlobEndpoint=https://a;SharedAccessSignature=s"]
    )
    def test_a_connection_string_without_a_key_is_refused_by_its_setting(self, text: str) -> None:
        with pytest.raises(Misconfigured, match="STORAGE_CONNECTION_STRING"):
            azure_blobs.by_connection_string(text, container=CONTAINER)


class TestAzureByIdentity(AzureContract):
    @pytest.fixture
    def azurite_url(self, azurite_with_tokens: Azurite) -> str:
        return azurite_with_tokens.url

    @pytest.fixture
    def making(self, azure_credential: BoundedCredential, trusting: ssl.SSLContext) -> AzureMaker:
        @asynccontextmanager
        async def made(
            url: str, container: str = CONTAINER, clock: Clock = THE_CLOCK
        ) -> AsyncIterator[azure_blobs.AzureBlobs]:
            options: dict[str, Any] = {"container": container, "clock": clock, **transport(trusting)}
            blobs = azure_blobs.by_identity(url, azure_credential, **options)
            yield blobs
            await blobs.close()

        return made

    @pytest_asyncio.fixture
    async def world(
        self, azurite_with_tokens: Azurite, making: AzureMaker, trusting: ssl.SSLContext
    ) -> AsyncIterator[BlobsWorld]:
        owner = BlobServiceClient.from_connection_string(azurite_with_tokens.connection_string, **transport(trusting))
        connector = aiohttp.TCPConnector(ssl=trusting)
        async with (
            container_at(owner),
            making(azurite_with_tokens.url) as blobs,
            aiohttp.ClientSession(connector=connector) as client,
        ):
            yield BlobsWorld(blobs, client)

    async def test_one_key_signs_many_urls(self, world: BlobsWorld, identity_server: IdentityServer) -> None:
        keys = {await key_of_url(world.blobs) for _ in range(20)}
        assert len(keys) == 1
        assert len(identity_server.requests) == 1

    async def test_a_key_is_renewed_after_a_day(self, azurite_url: str, making: AzureMaker) -> None:
        clock = JumpingClock()
        async with making(azurite_url, clock=clock) as blobs:
            keys = []
            for hours in (0, 23, 25, 26, 200):
                clock.ahead = timedelta(hours=hours)
                keys.append(await key_of_url(blobs, clock))
        assert [keys.index(key) for key in keys] == [0, 0, 2, 2, 4]

    async def test_the_kept_key_does_while_no_new_one_can_be_had(self, azurite_url: str, making: AzureMaker) -> None:
        clock = JumpingClock()
        async with Gateway(azurite_url) as gateway, making(gateway.url, clock=clock) as blobs:
            first = await key_of_url(blobs, clock)
            clock.ahead = timedelta(hours=25)
            with gateway.away():
                assert await key_of_url(blobs, clock) == first
                clock.ahead = timedelta(hours=200)
                with pytest.raises(Unavailable, match="no key to sign file URLs with"):
                    await key_of_url(blobs, clock)
            assert await key_of_url(blobs, clock) != first

    async def test_a_url_for_a_week_is_more_than_an_identity_can_sign(self, world: BlobsWorld) -> None:
        with pytest.raises(Misconfigured, match="SIGNED_URL_TTL_SECONDS"):
            await world.blobs.signed_url(file_path(), expires_at=in_an_hour().replace(year=2100))

    def test_an_account_url_that_names_no_account_is_refused(self, azure_credential: BoundedCredential) -> None:
        with pytest.raises(Misconfigured, match="STORAGE_ACCOUNT_URL"):
            azure_blobs.by_identity("https://127.0.0.1", azure_credential, container="c", clock=THE_CLOCK)
