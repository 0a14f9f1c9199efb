"""What ``ports.blobs`` promises, whatever keeps it.

Bind it with a subclass that has a fixture ``world``.
"""

import asyncio
import hashlib
import tracemalloc
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import uuid4

import aiohttp
import pytest

from fluxx.errors import BadInput, NotFound, Unavailable
from fluxx.ports.blobs import Blobs, Stored

MIB = 2**20
JSON = "application/json"
MEMORY = 24 * MIB
"""Bytes that a stream of any length may take."""
CROOKED_PATHS = [
    *("", "/", "/etc/passwd", "..", "../x", "a/../b", "a/./b", "a//b", "a/", ".partial/x", "a/.b", "a\\b", "a\0b"),
    *("a b", "a?b", "a%2fb", "ä", "a\n", "~/x", "c:/x", "a" * 201, "a/" * 250 + "a"),
]


class BlobsWorld(NamedTuple):
    """A blob store, and a client that reaches its signed URLs as an extractor would."""

    blobs: Blobs
    client: aiohttp.ClientSession


class Broken(Exception):
    """Raised by a source in the middle of a stream."""


def result_path() -> str:
    return f"results/{uuid4()}/{uuid4()}/{uuid4()}/result.json"


def file_path() -> str:
    return f"files/{uuid4()}/{uuid4()}/content"


async def pieces(content: bytes, size: int = 2**16) -> AsyncIterator[bytes]:
    for start in range(0, len(content), size):
        yield content[start : start + size]


async def read(blobs: Blobs, path: str, start: int = 0, end: int | None = None) -> bytes:
    async with blobs.open(path, start=start, end=end) as opened:
        return b"".join([chunk async for chunk in opened.chunks])


async def is_absent(blobs: Blobs, path: str) -> bool:
    try:
        await read(blobs, path)
    except NotFound:
        return True
    return False


def described(content: bytes) -> Stored:
    return Stored(len(content), hashlib.sha256(content).hexdigest())


def content_of(size: int, seed: bytes = b"fluxx") -> bytes:
    block = hashlib.sha512(seed).digest() * 16
    return (block * (size // len(block) + 1))[:size]


def in_an_hour() -> datetime:
    return datetime.now(UTC) + timedelta(hours=1)


class BlobsContract:
    @pytest.mark.parametrize("size", [0, 1, 1000, MIB, 4 * MIB - 1, 4 * MIB, 9 * MIB + 17])
    @pytest.mark.parametrize("streamed", [False, True])
    async def test_what_is_written_is_read(self, world: BlobsWorld, size: int, *, streamed: bool) -> None:
        path, content = result_path(), content_of(size)
        stored = await world.blobs.write(path, pieces(content) if streamed else content, content_type=JSON)
        assert stored == described(content)
        async with world.blobs.open(path) as opened:
            assert opened.size == size
            assert b"".join([chunk async for chunk in opened.chunks]) == content

    async def test_check_finds_it_usable(self, world: BlobsWorld) -> None:
        await world.blobs.check()

    @pytest.mark.parametrize("size", [10, 5 * MIB])
    async def test_new_content_replaces_the_old_in_one_step(self, world: BlobsWorld, size: int) -> None:
        path, old, new = result_path(), content_of(size, b"old"), content_of(size + 1, b"new")
        await world.blobs.write(path, old, content_type=JSON)

        async def watched() -> AsyncIterator[bytes]:
            async for piece in pieces(new, size // 2):
                assert await read(world.blobs, path) == old
                yield piece

        await world.blobs.write(path, watched(), content_type=JSON)
        assert await read(world.blobs, path) == new

    @pytest.mark.parametrize("size", [10, 9 * MIB])
    @pytest.mark.parametrize("streamed", [False, True])
    async def test_what_is_written_once_stays(self, world: BlobsWorld, size: int, *, streamed: bool) -> None:
        path, first, second = result_path(), content_of(size, b"first"), content_of(size + 1, b"second")
        for content in (first, second, second):
            stored = await world.blobs.write(
                path, pieces(content) if streamed else content, content_type=JSON, once=True
            )
            assert stored == described(first)
        assert await read(world.blobs, path) == first

    @pytest.mark.parametrize("size", [2000, 9 * MIB])
    async def test_of_many_who_write_once_the_first_counts(self, world: BlobsWorld, size: int) -> None:
        path = result_path()
        contents = [content_of(size + number, b"%d" % number) for number in range(5)]
        writing = [world.blobs.write(path, pieces(each), content_type=JSON, once=True) for each in contents]
        ends = await asyncio.gather(*writing, return_exceptions=True)
        stored = {end for end in ends if not isinstance(end, Unavailable)}
        assert stored == {described(await read(world.blobs, path))}

    async def test_a_blob_that_was_deleted_can_be_written_once_again(self, world: BlobsWorld) -> None:
        path = result_path()
        for content in (b"first", b"second"):
            assert await world.blobs.write(path, content, content_type=JSON, once=True) == described(content)
            await world.blobs.delete(path)

    async def test_nothing_is_seen_before_the_end_of_a_first_write(self, world: BlobsWorld) -> None:
        path, content = result_path(), content_of(5 * MIB)

        async def watched() -> AsyncIterator[bytes]:
            async for piece in pieces(content, 2 * MIB):
                yield piece
                assert await is_absent(world.blobs, path)

        await world.blobs.write(path, watched(), content_type=JSON)
        assert await read(world.blobs, path) == content

    @pytest.mark.parametrize("size", [100, 5 * MIB])
    async def test_a_stream_that_breaks_leaves_nothing_and_its_error_comes_through(
        self, world: BlobsWorld, size: int
    ) -> None:
        path, kept = result_path(), result_path()
        await world.blobs.write(kept, b"kept", content_type=JSON)

        async def breaking() -> AsyncIterator[bytes]:
            async for piece in pieces(content_of(size)):
                yield piece
            raise Broken

        for target in (path, kept):
            with pytest.raises(Broken):
                await world.blobs.write(target, breaking(), content_type=JSON)
        assert await is_absent(world.blobs, path)
        assert await read(world.blobs, kept) == b"kept"

    async def test_a_cancelled_write_leaves_nothing(self, world: BlobsWorld) -> None:
        path, under_way = result_path(), asyncio.Event()

        async def endless() -> AsyncIterator[bytes]:
            yield content_of(5 * MIB)
            under_way.set()
            await asyncio.Event().wait()

        writing = asyncio.create_task(world.blobs.write(path, endless(), content_type=JSON))
        await under_way.wait()
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        assert await is_absent(world.blobs, path)

    @pytest.mark.parametrize(
        ("start", "end"),
        [(0, None), (0, 1), (2, 5), (9, None), (9, 10), (3, 100), (0, 0), (4, 4), (5, 2), (10, None), (11, 20)],
    )
    async def test_a_range_is_what_a_slice_would_be(self, world: BlobsWorld, start: int, end: int | None) -> None:
        path = result_path()
        await world.blobs.write(path, b"0123456789", content_type=JSON)
        async with world.blobs.open(path, start=start, end=end) as opened:
            assert opened.size == 10
            assert b"".join([chunk async for chunk in opened.chunks]) == b"0123456789"[start:end]

    async def test_a_range_may_span_chunks(self, world: BlobsWorld) -> None:
        path, content = result_path(), content_of(5 * MIB)
        await world.blobs.write(path, content, content_type=JSON)
        for start, end in [(MIB // 2 - 1, 2 * MIB + 17), (1, None), (MIB, 2 * MIB)]:
            assert await read(world.blobs, path, start, end) == content[start:end]

    async def test_a_reader_may_leave_in_the_middle(self, world: BlobsWorld) -> None:
        path, content = result_path(), content_of(5 * MIB)
        await world.blobs.write(path, content, content_type=JSON)
        async with world.blobs.open(path) as opened:
            assert content.startswith(await anext(opened.chunks))
        assert await read(world.blobs, path) == content

    async def test_what_was_never_written_is_not_found(self, world: BlobsWorld) -> None:
        for start, end in [(0, None), (5, None), (0, 0)]:
            with pytest.raises(NotFound):
                await read(world.blobs, result_path(), start, end)

    async def test_deleting_twice_is_as_good_as_once(self, world: BlobsWorld) -> None:
        path, neighbour = result_path(), result_path()
        for each in (path, neighbour):
            await world.blobs.write(each, b"{}", content_type=JSON)
        await world.blobs.delete(path)
        await world.blobs.delete(path)
        assert await is_absent(world.blobs, path)
        assert await read(world.blobs, neighbour) == b"{}"
        await world.blobs.write(path, b"again", content_type=JSON)
        assert await read(world.blobs, path) == b"again"

    async def test_many_writers_of_one_path_leave_one_of_their_contents(self, world: BlobsWorld) -> None:
        path = result_path()
        contents = [content_of(2000 + number, b"%d" % number) for number in range(20)]
        stored = await asyncio.gather(*(world.blobs.write(path, each, content_type=JSON) for each in contents))
        assert stored == [described(each) for each in contents]
        assert await read(world.blobs, path) in contents

    async def test_streams_to_one_path_never_mix(self, world: BlobsWorld) -> None:
        path = result_path()
        contents = [content_of(5 * MIB * number, b"%d" % number) for number in (1, 2, 3)]
        ends = await asyncio.gather(
            *(world.blobs.write(path, pieces(each), content_type=JSON) for each in contents), return_exceptions=True
        )
        stored = [end for end in ends if isinstance(end, Stored)]
        assert all(isinstance(end, Stored | Unavailable) for end in ends)
        assert described(await read(world.blobs, path)) in stored

    async def test_a_stream_overtaken_by_another_is_whole_or_refused(self, world: BlobsWorld) -> None:
        path, slow, quick = result_path(), content_of(9 * MIB, b"slow"), content_of(5 * MIB, b"quick")

        async def overtaken() -> AsyncIterator[bytes]:
            yield slow[: 5 * MIB]
            assert await world.blobs.write(path, pieces(quick), content_type=JSON) == described(quick)
            yield slow[5 * MIB :]

        try:
            expected = await world.blobs.write(path, overtaken(), content_type=JSON)
        except Unavailable:
            expected = described(quick)
        assert described(await read(world.blobs, path)) == expected

    async def test_a_long_stream_takes_little_memory(self, world: BlobsWorld) -> None:
        path, piece, count = result_path(), content_of(MIB // 16), 640

        async def long() -> AsyncIterator[bytes]:
            for _ in range(count):
                yield bytes(bytearray(piece))

        tracemalloc.start()
        try:
            stored = await world.blobs.write(path, long(), content_type=JSON)
            sha256 = hashlib.sha256()
            async with world.blobs.open(path) as opened:
                async for chunk in opened.chunks:
                    sha256.update(chunk)
            assert tracemalloc.get_traced_memory()[1] < MEMORY
        finally:
            tracemalloc.stop()
        assert stored == Stored(len(piece) * count, sha256.hexdigest())

    @pytest.mark.parametrize("path", CROOKED_PATHS)
    async def test_a_path_that_is_not_plain_is_refused(self, world: BlobsWorld, path: str) -> None:
        for refused in (
            world.blobs.write(path, b"x", content_type=JSON),
            read(world.blobs, path),
            world.blobs.delete(path),
            world.blobs.signed_url(path, expires_at=in_an_hour()),
        ):
            with pytest.raises(BadInput):
                await refused

    async def test_a_signed_url_reads_its_blob(self, world: BlobsWorld) -> None:
        path, content = file_path(), content_of(3 * MIB)
        await world.blobs.write(path, content, content_type="application/pdf")
        url = await world.blobs.signed_url(path, expires_at=in_an_hour())
        async with world.client.get(url) as answer:
            assert answer.status == 200
            assert await answer.read() == content
        async with world.client.get(url, headers={"Range": "bytes=5-9"}) as answer:
            assert answer.status == 206
            assert await answer.read() == content[5:10]

    async def test_a_signed_url_reads_no_other_blob(self, world: BlobsWorld) -> None:
        path, other = file_path(), file_path()
        for each in (path, other):
            await world.blobs.write(each, b"secret", content_type="application/pdf")
        url = await world.blobs.signed_url(path, expires_at=in_an_hour())
        for ours, others in zip(path.split("/"), other.split("/"), strict=True):
            url = url.replace(ours, others)
        async with world.client.get(url) as answer:
            assert answer.status == 403

    async def test_a_signed_url_ends(self, world: BlobsWorld) -> None:
        path = file_path()
        await world.blobs.write(path, b"secret", content_type="application/pdf")
        url = await world.blobs.signed_url(path, expires_at=datetime.now(UTC) - timedelta(seconds=2))
        async with world.client.get(url) as answer:
            assert answer.status == 403

    async def test_a_signed_url_only_reads(self, world: BlobsWorld) -> None:
        path = file_path()
        await world.blobs.write(path, b"kept", content_type="application/pdf")
        url = await world.blobs.signed_url(path, expires_at=in_an_hour())
        for method in ("PUT", "DELETE", "POST"):
            async with world.client.request(method, url, data=b"x", headers={"x-ms-blob-type": "BlockBlob"}) as answer:
                assert answer.status in {400, 403, 405}, method
        assert await read(world.blobs, path) == b"kept"
