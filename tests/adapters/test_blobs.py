"""The blob stores' promises, kept by a folder and by Azurite: with the account's key, and with an identity."""

import asyncio
import os
import resource
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import aiohttp
import pytest
import pytest_asyncio
from azure.storage.blob.aio import BlobServiceClient

from contracts.blobs import JSON, MIB, BlobsContract, content_of, file_path, in_an_hour, pieces, read, result_path
from fluxx.adapters.azure import blobs as azure_blobs
from fluxx.adapters.azure.identity import BoundedCredential
from fluxx.adapters.embedded.blobs import PARTIAL_FOLDER, PARTIAL_LIFE, FolderBlobs
from fluxx.adapters.embedded.signing import UrlSigner
from fluxx.clock import SystemClock
from fluxx.errors import BadInput, Misconfigured, Unavailable
from fluxx.ports.blobs import Blobs
from servers.azurite.server import Azurite, connection_string
from servers.gateway import Gateway
from servers.identity import IdentityServer
from support.azure import transport
from support.files_api import FilesApi

CONTAINER = "results"


class World:
    def __init__(self, blobs: Blobs, client: aiohttp.ClientSession) -> None:
        self.blobs = blobs
        self.client = client


def found_in(folder: Path) -> list[str]:
    return sorted(str(each.relative_to(folder)) for each in folder.rglob("*"))


def a_file(path: Path) -> Path:
    path.write_bytes(b"")
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "blobs"


@pytest_asyncio.fixture
async def folder(root: Path) -> AsyncIterator[FolderBlobs]:
    blobs = FolderBlobs(root, UrlSigner(b"k" * 32, "http://fluxx.example"))
    yield blobs
    await blobs.close()


class TestFolder(BlobsContract):
    @pytest_asyncio.fixture
    async def world(self, root: Path) -> AsyncIterator[World]:
        signer = UrlSigner(b"k" * 32)
        blobs = FolderBlobs(root, signer)
        async with FilesApi(root, signer), aiohttp.ClientSession() as client:
            yield World(blobs, client)
        await blobs.close()
        assert found_in(root / PARTIAL_FOLDER) == []

    async def test_only_files_have_signed_urls(self, folder: FolderBlobs) -> None:
        with pytest.raises(BadInput):
            await folder.signed_url(result_path(), expires_at=in_an_hour())

    async def test_a_delete_clears_away_empty_folders_and_no_others(self, folder: FolderBlobs, root: Path) -> None:
        for path in ("results/a/b/c/result.json", "results/a/d/e/result.json"):
            await folder.write(path, b"{}", content_type=JSON)
        await folder.delete("results/a/b/c/result.json")
        assert found_in(root / "results") == ["a", "a/d", "a/d/e", "a/d/e/result.json"]

    async def test_the_check_removes_what_a_killed_writer_left_long_ago(self, folder: FolderBlobs, root: Path) -> None:
        await folder.check()
        old, young = root / PARTIAL_FOLDER / "old", root / PARTIAL_FOLDER / "young"
        for left in (old, young):
            left.write_bytes(b"half a res")
        os.utime(old, (0, time.time() - PARTIAL_LIFE - 60))
        await folder.check()
        assert not old.exists()
        assert young.exists()

    async def test_a_disk_that_takes_no_more_is_unavailable_and_nothing_is_left(
        self, folder: FolderBlobs, root: Path
    ) -> None:
        await folder.write("a", b"old", content_type=JSON)
        unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 * MIB, unlimited[1]))
        try:
            for content in (content_of(3 * MIB), pieces(content_of(3 * MIB))):
                with pytest.raises(Unavailable, match="Blob a can't be read or written: File too large"):
                    await folder.write("a", content, content_type=JSON)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
        assert await read(folder, "a") == b"old"
        await folder.close()
        assert found_in(root / PARTIAL_FOLDER) == []

    async def test_a_folder_in_the_way_of_a_blob_is_no_blob(self, folder: FolderBlobs) -> None:
        await folder.write("a/b", b"{}", content_type=JSON)
        await folder.delete("a")
        await folder.delete("a/b/c")
        with pytest.raises(Unavailable):
            await folder.write("a", b"{}", content_type=JSON)
        assert await read(folder, "a/b") == b"{}"

    async def test_a_file_in_the_way_of_the_folder_is_told(self, root: Path) -> None:
        blobs = FolderBlobs(a_file(root), UrlSigner(b"k" * 32))
        with pytest.raises(Unavailable, match="The blob folder"):
            await blobs.check()
        await blobs.close()


class AzureMaker(Protocol):
    """Makes the adapter for a blob server reached at another URL."""

    def __call__(self, url: str, container: str = CONTAINER) -> AbstractAsyncContextManager[azure_blobs.AzureBlobs]: ...


class AzureContract(BlobsContract):
    async def test_the_content_type_is_kept(self, world: World) -> None:
        path = file_path()
        for content in (b"%PDF", pieces(content_of(9 * MIB))):
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
        async def made(url: str, container: str = CONTAINER) -> AsyncIterator[azure_blobs.AzureBlobs]:
            blobs = azure_blobs.by_connection_string(connection_string(url), container=container)
            yield blobs
            await blobs.close()

        return made

    @pytest_asyncio.fixture
    async def world(self, azurite: Azurite, making: AzureMaker) -> AsyncIterator[World]:
        async with (
            container_at(BlobServiceClient.from_connection_string(azurite.connection_string)),
            making(azurite.url) as blobs,
            aiohttp.ClientSession() as client,
        ):
            yield World(blobs, client)

    async def test_a_short_spell_of_503_is_sat_out(self, world: World, azurite: Azurite, making: AzureMaker) -> None:
        path = result_path()
        async with Gateway(azurite.url) as gateway, making(gateway.url) as blobs:
            gateway.busy_for(2)
            await blobs.write(path, b"{}", content_type=JSON)
            assert gateway.requests == 2
            gateway.busy_for(2)
            assert await read(blobs, path) == b"{}"
        assert await read(world.blobs, path) == b"{}"

    async def test_a_long_spell_of_503_is_unavailable_and_passes(
        self, world: World, azurite: Azurite, making: AzureMaker
    ) -> None:
        path, content = result_path(), content_of(9 * MIB)
        async with Gateway(azurite.url) as gateway, making(gateway.url) as blobs:
            await blobs.write(path, b"old", content_type=JSON)
            with gateway.busy():
                ends = await asyncio.gather(
                    blobs.write(path, b"{}", content_type=JSON),
                    blobs.write(path, pieces(content), content_type=JSON),
                    read(blobs, path),
                    blobs.delete(path),
                    blobs.check(),
                    return_exceptions=True,
                )
            assert [type(end) for end in ends] == [Unavailable] * 5
            assert all("503 ServerBusy" in str(end) for end in ends)
            assert await read(blobs, path) == b"old"
            await blobs.write(path, pieces(content), content_type=JSON)
            await blobs.check()
        assert await read(world.blobs, path) == content

    async def test_a_server_that_is_away_is_unavailable_soon(self, making: AzureMaker) -> None:
        async with Gateway("http://127.0.0.1:9/devstoreaccount1") as gateway:
            url = gateway.url
        started = time.monotonic()
        async with making(url) as blobs:
            with pytest.raises(Unavailable):
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
        async def made(url: str, container: str = CONTAINER) -> AsyncIterator[azure_blobs.AzureBlobs]:
            options: dict[str, Any] = {"container": container, "clock": SystemClock(), **transport(trusting)}
            blobs = azure_blobs.by_identity(url, azure_credential, **options)
            yield blobs
            await blobs.close()

        return made

    @pytest_asyncio.fixture
    async def world(
        self, azurite_with_tokens: Azurite, making: AzureMaker, trusting: ssl.SSLContext
    ) -> AsyncIterator[World]:
        owner = BlobServiceClient.from_connection_string(azurite_with_tokens.connection_string, **transport(trusting))
        connector = aiohttp.TCPConnector(ssl=trusting)
        async with (
            container_at(owner),
            making(azurite_with_tokens.url) as blobs,
            aiohttp.ClientSession(connector=connector) as client,
        ):
            yield World(blobs, client)

    async def test_one_key_signs_many_urls(self, world: World, identity_server: IdentityServer) -> None:
        urls = [await world.blobs.signed_url(file_path(), expires_at=in_an_hour()) for _ in range(20)]
        assert len({url.partition("skt=")[2].partition("&")[0] for url in urls}) == 1
        assert len(identity_server.requests) == 1

    async def test_a_url_for_a_week_is_more_than_an_identity_can_sign(self, world: World) -> None:
        with pytest.raises(Misconfigured, match="SIGNED_URL_TTL_SECONDS"):
            await world.blobs.signed_url(file_path(), expires_at=in_an_hour().replace(year=2100))

    def test_an_account_url_that_names_no_account_is_refused(self, azure_credential: BoundedCredential) -> None:
        with pytest.raises(Misconfigured, match="STORAGE_ACCOUNT_URL"):
            azure_blobs.by_identity("https://127.0.0.1", azure_credential, container="c", clock=SystemClock())
