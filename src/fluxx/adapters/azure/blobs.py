"""Blobs in a container of an Azure storage account (flat or hierarchical: the Blob API serves both).

The wiring makes it from ``STORAGE_CONNECTION_STRING`` or ``STORAGE_ACCOUNT_URL``. A blob becomes
visible when its list of blocks is committed, so an aborted stream leaves nothing to be seen.
"""

import hashlib
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

from azure.core import MatchConditions
from azure.core.credentials_async import AsyncTokenCredential
from azure.core.exceptions import AzureError, HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.storage.blob import BlobBlock, ContentSettings
from azure.storage.blob.aio import BlobClient, BlobServiceClient, LinearRetry, StorageStreamDownloader

from fluxx.adapters.azure.failures import error_code, told_as, words
from fluxx.adapters.azure.signed_urls import AccountKeySigning, DelegationSigning, UrlSigning
from fluxx.adapters.batches import batches
from fluxx.adapters.blob_paths import checked_path
from fluxx.clock import Clock
from fluxx.errors import Misconfigured, NotFound, Unavailable
from fluxx.ports.blobs import Opened, Stored

BLOCK: Final = 4 * 2**20
"""Bytes of one block, and of what is sent whole: the memory that a stream takes, once or twice."""
READ_CHUNK: Final = 2**20


def by_connection_string(connection_string: str, *, container: str, **transport: Any) -> "AzureBlobs":
    """Return the store of an account given by a connection string with its key. Raises ``Misconfigured``."""
    try:
        service = BlobServiceClient.from_connection_string(connection_string, **_options(), **transport)
    except ValueError:
        raise Misconfigured("STORAGE_CONNECTION_STRING is not a connection string.") from None
    key = getattr(service.credential, "account_key", None)
    if not key or not service.account_name:
        raise Misconfigured("STORAGE_CONNECTION_STRING needs an AccountKey: it signs the file URLs.")
    return AzureBlobs(service, container, AccountKeySigning(service.account_name, key))


def by_identity(
    account_url: str,
    credential: AsyncTokenCredential,
    *,
    container: str,
    clock: Clock,
    signs: bool = True,
    **transport: Any,
) -> "AzureBlobs":
    """Return the store of an account used with the service's identity. Raises ``Misconfigured``.

    Who ``signs`` no URLs needs no right to.
    """
    try:
        service = BlobServiceClient(account_url, credential, **_options(), **transport)
    except ValueError as error:
        raise Misconfigured(f"STORAGE_ACCOUNT_URL: {error}") from None
    account_name = service.account_name or urlsplit(account_url).path.strip("/")
    if not account_name:
        raise Misconfigured("STORAGE_ACCOUNT_URL must look like https://<account>.blob.core.windows.net.")
    return AzureBlobs(service, container, DelegationSigning(service, account_name, clock), signs=signs)


def _options() -> dict[str, Any]:
    """Return bounds instead of the SDK's own, which try a refused connection for 84 seconds."""
    return {
        "retry_policy": LinearRetry(backoff=1, retry_total=3, random_jitter_range=1),  # 0 to 2 s, three times
        "connection_timeout": 5,
        "read_timeout": 30,
        "max_single_put_size": BLOCK,
        "max_single_get_size": READ_CHUNK,
        "max_chunk_get_size": READ_CHUNK,
    }


class AzureBlobs:
    """The ``Blobs`` port on one container. Make it by ``by_connection_string`` or ``by_identity``."""

    def __init__(self, service: BlobServiceClient, container: str, signing: UrlSigning, *, signs: bool = True) -> None:
        self._service = service
        self._container = service.get_container_client(container)
        self._signing = signing
        self._signs = signs

    async def write(
        self, path: str, content: bytes | AsyncIterable[bytes], *, content_type: str, once: bool = False
    ) -> Stored:
        """Store ``content`` under ``path``; see the port.

        Of two streams written to one path at the same time, the one that ends later raises
        ``Unavailable``: Azure dropped its blocks when the other's were committed.
        """
        blob = self._container.get_blob_client(checked_path(path))
        settings = ContentSettings(content_type=content_type)
        pieces = batches(_sliced(content) if isinstance(content, bytes) else content, BLOCK)
        first = await anext(pieces, b"")
        with told_as(f"Blob {path} can't be written"):
            try:
                if len(first) < BLOCK:
                    return await _write_whole(blob, first, settings, once=once)
                return await _write_blocks(blob, first, pieces, settings, once=once)
            except ResourceExistsError:
                return await _described(blob)

    @asynccontextmanager
    async def open(self, path: str, *, start: int = 0, end: int | None = None) -> AsyncIterator[Opened]:
        """Open a blob for reading; see the port. A range beyond its end is empty."""
        blob = self._container.get_blob_client(checked_path(path))
        yield await _opened(blob, start, end)

    async def delete(self, path: str) -> None:
        """Remove a blob; one that isn't there is fine."""
        blob = self._container.get_blob_client(checked_path(path))
        with suppress(NotFound), told_as(f"Blob {path} can't be removed"):
            await blob.delete_blob(delete_snapshots="include")

    async def signed_url(self, path: str, *, expires_at: datetime) -> str:
        """Return a URL that reads this one blob until ``expires_at`` and allows nothing else."""
        return await self._signing.sign(self._container.get_blob_client(checked_path(path)), expires_at)

    async def check(self) -> None:
        """Raise ``Misconfigured`` where the container is missing or refused, ``Unavailable`` where it is away.

        Asks once: who checks wants to know how it is now.
        """
        name = self._container.container_name
        try:
            await self._container.get_container_properties(retry_total=0)
            if self._signs:
                await self._signing.ready()
        except ResourceNotFoundError as error:
            raise Misconfigured(f"STORAGE_CONTAINER: the storage account has no container {name}.") from error
        except AzureError as error:
            refused = isinstance(error, HttpResponseError) and error.status_code in {401, 403}
            kind = Misconfigured if refused else Unavailable
            raise kind(f"The container {name} of the storage account can't be used: {words(error)}.") from error

    async def close(self) -> None:
        """Give back connections."""
        await self._service.close()


async def _write_whole(blob: BlobClient, content: bytes, settings: ContentSettings, *, once: bool) -> Stored:
    await blob.upload_blob(content, overwrite=not once, content_settings=settings)
    return Stored(len(content), hashlib.sha256(content).hexdigest())


async def _write_blocks(
    blob: BlobClient, first: bytes, rest: AsyncIterator[bytes], settings: ContentSettings, *, once: bool
) -> Stored:
    # The ids are this write's own. The SDK counts from zero each time: two writers would mix their blocks.
    write_id = uuid4().hex
    blocks: list[BlobBlock] = []
    sha256 = hashlib.sha256()
    size = 0
    piece = first
    while piece:
        sha256.update(piece)
        size += len(piece)
        blocks.append(BlobBlock(f"{write_id}{len(blocks):08d}"))
        await blob.stage_block(blocks[-1].id, piece)
        piece = await anext(rest, b"")
    condition: dict[str, Any] = {"match_condition": MatchConditions.IfMissing} if once else {}
    await blob.commit_block_list(blocks, content_settings=settings, **condition)
    return Stored(size, sha256.hexdigest())


async def _described(blob: BlobClient) -> Stored:
    """Return what is there: a blob written once stays as it is."""
    sha256 = hashlib.sha256()
    opened = await _opened(blob, 0, None)
    async for chunk in opened.chunks:
        sha256.update(chunk)
    return Stored(opened.size, sha256.hexdigest())


async def _opened(blob: BlobClient, start: int, end: int | None) -> Opened:
    what = f"Blob {blob.blob_name} can't be read"
    with told_as(what):
        if end is not None and end <= start:
            return Opened((await blob.get_blob_properties()).size, _nothing())
        try:
            stream = await blob.download_blob(offset=start, length=None if end is None else end - start)
        except HttpResponseError as error:
            if error_code(error) != "InvalidRange":
                raise
            return Opened((await blob.get_blob_properties()).size, _nothing())
    return Opened(_whole_size(stream), _chunks(what, stream))


def _whole_size(stream: StorageStreamDownloader[bytes]) -> int:
    """Return the size of the whole blob: ``stream.size`` is that of the range."""
    return int(str(stream.properties.content_range).rpartition("/")[2])


async def _chunks(what: str, stream: StorageStreamDownloader[bytes]) -> AsyncIterator[bytes]:
    with told_as(what):
        async for chunk in stream.chunks():
            yield chunk


async def _nothing() -> AsyncIterator[bytes]:
    return
    yield b""


async def _sliced(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), BLOCK):
        yield content[start : start + BLOCK]
