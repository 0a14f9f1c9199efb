"""The blob stores' promises, kept by a folder of the local disk; and what it adds."""

import os
import resource
import time
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio

from contracts.blobs import JSON, MIB, BlobsContract, BlobsWorld, content_of, in_an_hour, pieces, read, result_path
from fluxx.adapters.embedded.blobs import PARTIAL_FOLDER, PARTIAL_LIFE, FolderBlobs
from fluxx.adapters.embedded.signing import UrlSigner
from fluxx.errors import BadInput, Unavailable
from support.files_api import FilesApi


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
    async def world(self, root: Path) -> AsyncIterator[BlobsWorld]:
        signer = UrlSigner(b"k" * 32)
        blobs = FolderBlobs(root, signer)
        async with FilesApi(root, signer), aiohttp.ClientSession() as client:
            yield BlobsWorld(blobs, client)
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

    async def test_the_first_write_removes_what_a_killed_writer_left_long_ago(
        self, folder: FolderBlobs, root: Path
    ) -> None:
        old, young = root / PARTIAL_FOLDER / "old", root / PARTIAL_FOLDER / "young"
        old.parent.mkdir(parents=True)
        for left in (old, young):
            left.write_bytes(b"half a res")
        os.utime(old, (0, time.time() - PARTIAL_LIFE - 60))
        await folder.write("a", b"{}", content_type=JSON)
        assert found_in(root) == [PARTIAL_FOLDER, f"{PARTIAL_FOLDER}/young", "a"]

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
        with pytest.raises(Unavailable, match=f"The blob folder {root}"):
            await blobs.check()
        await blobs.close()
