"""The HTTP extractor client: what it sends, what it brings back, and how trouble is told."""

import gzip
import socket
from collections.abc import Callable

import pytest

from fluxx import __version__
from fluxx.adapters.http.client import HttpExtractorClient
from fluxx.errors import NoAnswer, SecretMissing
from fluxx.ports.extractor import Call
from fluxx.ports.secrets import ApiKey
from support.calls import a_client, downloaded, endless, fetch, get, names, of, post, stalling
from support.raw_server import RawServer
from support.scripted import Reply, ScriptedExtractor

KEY = ApiKey("canary-key")
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def test_a_call_is_sent_as_it_was_made(client: HttpExtractorClient, extractor: ScriptedExtractor) -> None:
    url = f"{extractor.url}/a%2Fb/extract?sig=a%2Fb%3D+c"
    headers = {"Idempotency-Key": "7", "Content-Type": "application/json"}
    await client.exchange(post(url, api_key=KEY, headers=headers, body=b'{"jobId": 1}'))
    [request] = extractor.requests
    assert (request.method, request.path, request.body) == ("POST", "/a%2Fb/extract?sig=a%2Fb%3D+c", b'{"jobId": 1}')
    assert request.headers["Authorization"] == "Bearer canary-key"
    assert request.headers["Idempotency-Key"] == "7"
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["User-Agent"] == f"fluxx/{__version__}"
    assert "Cookie" not in request.headers


async def test_an_answer_comes_back_whole_whatever_its_status(
    client: HttpExtractorClient, extractor: ScriptedExtractor
) -> None:
    extractor.on_path("/extract", Reply(429, {"detail": "slow down"}, headers={"Retry-After": "7"}))
    answer = await client.exchange(post(extractor.extraction_url))
    assert (answer.status, answer.reason, answer.body) == (429, "Too Many Requests", b'{"detail": "slow down"}')
    assert answer.headers["retry-after"] == "7"


async def test_headers_sent_twice_are_joined_and_strange_bytes_replaced(client: HttpExtractorClient) -> None:
    raw = b"HTTP/1.1 200 Sch\xf6n\r\nContent-Length: 0\r\nX-A: 1\r\nx-a: 2\r\nX-B: \xff\xfe\r\n\r\n"
    async with RawServer(raw) as server:
        answer = await client.exchange(get(server.url))
    assert (answer.headers["x-a"], answer.headers["x-b"], answer.reason) == ("1, 2", "\ufffd\ufffd", "Sch\ufffdn")


async def test_a_download_comes_in_pieces(client: HttpExtractorClient, extractor: ScriptedExtractor) -> None:
    content = bytes(range(256)) * 4000
    extractor.on_path("/result", Reply(body=content))
    async with client.download(get(f"{extractor.url}/result", max_bytes=len(content))) as download:
        pieces = [chunk async for chunk in download.chunks]
    assert (download.answer.status, download.answer.body) == (200, b"")
    assert b"".join(pieces) == content
    assert len(pieces) > 1


async def test_a_download_that_is_no_success_has_an_excerpt_and_no_chunks(
    client: HttpExtractorClient, extractor: ScriptedExtractor
) -> None:
    extractor.on_path("/result", Reply(403, b"expired" + b"." * 100_000))
    answer, content = await downloaded(client, get(f"{extractor.url}/result", max_bytes=10**6))
    assert (answer.status, len(answer.body), answer.body[:7], content) == (403, 16 * 2**10, b"expired", b"")


async def test_a_download_that_leads_nowhere_has_an_excerpt_too(
    client: HttpExtractorClient, extractor: ScriptedExtractor
) -> None:
    extractor.on_path("/result", Reply(302, b"where?"))
    answer, content = await downloaded(client, get(f"{extractor.url}/result"))
    assert (answer.status, answer.body, content) == (302, b"where?", b"")


async def test_a_download_may_be_left_early(client: HttpExtractorClient, extractor: ScriptedExtractor) -> None:
    extractor.on_path("/result", Reply(body=endless()))
    async with client.download(get(f"{extractor.url}/result", max_bytes=2**40)) as download:
        first = await anext(download.chunks)
    assert first
    assert [chunk async for chunk in download.chunks] == []
    assert (await client.exchange(post(extractor.extraction_url))).status == 201


async def test_an_error_of_the_reader_comes_through_as_it_is(
    client: HttpExtractorClient, extractor: ScriptedExtractor
) -> None:
    extractor.on_path("/result", Reply(body=b"content"))
    full = OSError("the disk is full")
    with pytest.raises(OSError, match="disk is full") as trouble:
        async with client.download(get(f"{extractor.url}/result")):
            raise full
    assert trouble.value is full


async def test_connections_are_kept_and_nothing_else_is(client: HttpExtractorClient) -> None:
    cookie = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie: a=b\r\n\r\n"
    async with RawServer(cookie, OK) as server, ScriptedExtractor() as extractor:
        for _ in range(3):
            await client.exchange(get(server.url))
        assert (server.connections, server.requests) == (1, 3)
        extractor.on_path("/cookie", Reply(headers={"Set-Cookie": "a=b; Path=/"}))
        await client.exchange(get(f"{extractor.url}/cookie"))
        await client.exchange(get(f"{extractor.url}/cookie"))
        assert "Cookie" not in extractor.requests[-1].headers


async def test_proxies_of_the_environment_are_not_used(
    client: HttpExtractorClient, extractor: ScriptedExtractor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert (await client.exchange(post(extractor.extraction_url))).status == 201


async def test_a_key_that_no_header_can_carry_is_never_sent(
    client: HttpExtractorClient, extractor: ScriptedExtractor
) -> None:
    for key in ("canary\r\nX-Evil: 1", "canary\u00fc", "canary\n"):
        with pytest.raises(SecretMissing) as refusal:
            await client.exchange(post(extractor.extraction_url, api_key=ApiKey(key)))
        assert "canary" not in str(refusal.value)
    assert extractor.requests == []


async def test_a_refused_connection_is_known_not_to_have_been_sent(client: HttpExtractorClient) -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        with pytest.raises(NoAnswer, match="doesn't accept connections") as trouble:
            await client.exchange(post(f"http://127.0.0.1:{unheard.getsockname()[1]}/"))
    assert not trouble.value.sent


async def test_a_name_that_does_not_resolve_is_known_not_to_have_been_sent() -> None:
    async with a_client(lookup=names({})) as client:
        with pytest.raises(NoAnswer, match="name that can't be resolved") as trouble:
            await client.exchange(post("http://extractor.test/"))
    assert not trouble.value.sent


@pytest.mark.parametrize("make", [get, post])
async def test_a_dropped_connection_is_no_answer_and_the_call_is_made_once(
    client: HttpExtractorClient, extractor: ScriptedExtractor, make: Callable[[str], Call]
) -> None:
    extractor.on_path("/x", lambda _: Reply(drop=True))
    with pytest.raises(NoAnswer, match="closed the connection") as trouble:
        await client.exchange(make(f"{extractor.url}/x"))
    assert trouble.value.sent
    assert len(extractor.requests) == 1


async def test_a_truncated_body_is_no_answer(
    client: HttpExtractorClient, extractor: ScriptedExtractor, how: str
) -> None:
    extractor.on_path("/x", Reply(body=b"half", truncate=True), Reply(body=of(b"some"), truncate=True))
    for _ in range(2):
        with pytest.raises(NoAnswer, match="broke off"):
            await fetch(how, client, get(f"{extractor.url}/x"))


async def test_a_server_that_never_answers_is_given_up(
    client: HttpExtractorClient, extractor: ScriptedExtractor, how: str
) -> None:
    extractor.on_path("/x", Reply(hang=True))
    with pytest.raises(NoAnswer, match="gave no answer within") as trouble:
        await fetch(how, client, get(f"{extractor.url}/x", timeout=0.2))
    assert trouble.value.sent


async def test_a_body_that_stalls_is_given_up(
    client: HttpExtractorClient, extractor: ScriptedExtractor, how: str
) -> None:
    extractor.on_path("/x", Reply(body=stalling(b"a", b"b")))
    with pytest.raises(NoAnswer, match=r"gave no answer within|nothing more"):
        await fetch(how, client, get(f"{extractor.url}/x", timeout=0.2))


async def test_compressed_bytes_that_decode_to_nothing_are_no_progress(
    client: HttpExtractorClient, extractor: ScriptedExtractor
) -> None:
    nothing = gzip.compress(b"") * 5000
    extractor.on_path("/x", Reply(body=endless(nothing), headers={"Content-Encoding": "gzip"}))
    with pytest.raises(NoAnswer, match="nothing more"):
        await downloaded(client, get(f"{extractor.url}/x", timeout=0.2))


async def test_an_endless_line_of_interim_answers_is_given_up(client: HttpExtractorClient) -> None:
    async with RawServer(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1000) as server:
        with pytest.raises(NoAnswer):
            await client.exchange(get(server.url, timeout=0.2))


@pytest.mark.parametrize(
    "raw",
    [
        b"\x00\x01\x02 no HTTP at all\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nno size\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc",
        b"",
    ],
)
async def test_what_is_not_http_is_no_answer(client: HttpExtractorClient, raw: bytes) -> None:
    async with RawServer(raw, then_close=True) as server:
        with pytest.raises(NoAnswer) as trouble:
            await client.exchange(get(server.url))
    assert trouble.value.sent
