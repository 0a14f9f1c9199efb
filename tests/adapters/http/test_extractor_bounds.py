"""The HTTP extractor client's bounds: sizes, compression, headers."""

import gzip
import zlib
from collections.abc import Callable

import pytest

from fluxx.adapters.http.answering import EXCERPT
from fluxx.adapters.http.client import HttpExtractorClient
from fluxx.errors import NoAnswer, TooLarge
from support.calls import endless, fetch, get, of
from support.raw_server import RawServer
from support.scripted import Received, Reply, ScriptedExtractor


async def test_a_body_as_large_as_allowed_passes_and_one_byte_more_does_not(
    client: HttpExtractorClient, extractor: ScriptedExtractor, how: str
) -> None:
    body = b"x" * 10_000
    chunked: Callable[[Received], Reply] = lambda _: Reply(body=of(body, b"y"))  # noqa: E731 - a script
    extractor.on_path("/fits", Reply(body=body), Reply(body=of(body)))
    extractor.on_path("/announced", Reply(body=body + b"y"))
    extractor.on_path("/chunked", chunked)
    assert await fetch(how, client, get(f"{extractor.url}/fits")) == body
    assert await fetch(how, client, get(f"{extractor.url}/fits")) == body
    for path in ("/announced", "/chunked"):
        with pytest.raises(TooLarge, match="more than 10000 bytes"):
            await fetch(how, client, get(f"{extractor.url}{path}"))


async def test_an_endless_body_is_cut(client: HttpExtractorClient, extractor: ScriptedExtractor, how: str) -> None:
    extractor.on_path("/x", Reply(body=endless()))
    with pytest.raises(TooLarge):
        await fetch(how, client, get(f"{extractor.url}/x"))


@pytest.mark.parametrize("status", [302, 400, 404, 429, 503])
@pytest.mark.parametrize("kind", ["announced", "endless", "bomb"])
async def test_of_an_error_the_beginning_is_told_however_large_its_page_is(
    client: HttpExtractorClient, extractor: ScriptedExtractor, how: str, status: int, kind: str
) -> None:
    page = b"<html>It is not your fault." + b"x" * 300_000
    replies = {
        "announced": Reply(status, body=page),
        "endless": Reply(status, body=endless()),
        "bomb": Reply(status, body=gzip.compress(page), headers={"Content-Encoding": "gzip"}),
    }
    extractor.on_path("/x", replies[kind])
    call = get(f"{extractor.url}/x")
    if how == "exchange":
        answer = await client.exchange(call)
    else:
        async with client.download(call) as download:
            answer = download.answer
    assert answer.status == status
    assert 1000 < len(answer.body) <= EXCERPT
    assert kind == "endless" or page.startswith(answer.body)


async def test_a_download_gives_out_no_more_than_is_allowed(
    client: HttpExtractorClient, extractor: ScriptedExtractor
) -> None:
    extractor.on_path("/x", Reply(body=endless()))
    got: list[bytes] = []

    async def read() -> None:
        async with client.download(get(f"{extractor.url}/x", max_bytes=100_000)) as download:
            async for chunk in download.chunks:
                got.append(chunk)  # noqa: PERF401 - what came before the error counts

    with pytest.raises(TooLarge):
        await read()
    assert sum(map(len, got)) <= 100_000


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_decompression_bomb_is_cut(
    client: HttpExtractorClient, extractor: ScriptedExtractor, how: str, encoding: str
) -> None:
    packed = (gzip.compress if encoding == "gzip" else zlib.compress)(b"0" * 8 * 2**20)
    extractor.on_path("/x", Reply(body=packed, headers={"Content-Encoding": encoding}))
    with pytest.raises(TooLarge):
        await fetch(how, client, get(f"{extractor.url}/x", max_bytes=2**20))


RAW_DEFLATE = zlib.compressobj(wbits=-zlib.MAX_WBITS)
TEXT = b"Extracted text. " * 50_000


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(TEXT)),
        ("x-gzip", gzip.compress(TEXT)),
        ("GZIP", gzip.compress(TEXT[:10]) + gzip.compress(TEXT[10:])),
        ("gzip", gzip.compress(TEXT) + b"\0" * 100),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", RAW_DEFLATE.compress(TEXT) + RAW_DEFLATE.flush()),
        ("identity", TEXT),
        ("", TEXT),
    ],
)
async def test_compressed_bodies_are_undone(
    client: HttpExtractorClient, extractor: ScriptedExtractor, how: str, encoding: str, packed: bytes
) -> None:
    extractor.on_path("/x", Reply(body=packed, headers={"Content-Encoding": encoding}))
    assert await fetch(how, client, get(f"{extractor.url}/x", max_bytes=len(TEXT))) == TEXT


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(TEXT, mtime=0)[:-9]),
        ("gzip", gzip.compress(TEXT, mtime=0)[:-4] + b"\0\0\0\0"),
        ("gzip", b"plain text"),
        ("deflate", zlib.compress(TEXT)[:-5]),
        ("br", b"\x0b\x02\x80abc\x03"),
        ("gzip, gzip", gzip.compress(gzip.compress(TEXT, mtime=0), mtime=0)),
    ],
)
async def test_bodies_that_can_not_be_undone_are_no_answer(
    client: HttpExtractorClient, extractor: ScriptedExtractor, how: str, encoding: str, packed: bytes
) -> None:
    extractor.on_path("/x", Reply(body=packed, headers={"Content-Encoding": encoding}))
    with pytest.raises(NoAnswer):
        await fetch(how, client, get(f"{extractor.url}/x", max_bytes=10**6))


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: 1\r\n" % i for i in range(200)) + b"Content-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-Large: " + b"a" * 100_000 + b"\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"a" * 100_000 + b": 1\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 " + b"a" * 100_000 + b"\r\nContent-Length: 0\r\n\r\n",
    ],
    ids=["many", "large", "long-name", "long-reason"],
)
async def test_headers_beyond_all_measure_are_too_large(client: HttpExtractorClient, raw: bytes) -> None:
    async with RawServer(raw) as server:
        with pytest.raises(TooLarge, match="headers"):
            await client.exchange(get(server.url))
