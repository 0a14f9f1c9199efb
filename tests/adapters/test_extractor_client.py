"""The HTTP extractor client against real servers that misbehave: its bounds, its guard, its silence."""

import asyncio
import gzip
import socket
import ssl
import traceback
import zlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_network
from typing import Any

import pytest
import trustme

from fluxx import __version__
from fluxx.adapters.http.client import HttpExtractorClient
from fluxx.errors import EgressRefused, FluxxError, NoAnswer, SecretMissing, TooLarge
from fluxx.ports.extractor import Answer, Call
from fluxx.ports.secrets import ApiKey
from support.raw_server import RawServer
from support.scripted import Received, Reply, ScriptedExtractor

LOOPBACK = (ip_network("127.0.0.0/8"),)
KEY = ApiKey("canary-key")
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@pytest.fixture
async def extractor() -> AsyncIterator[ScriptedExtractor]:
    async with ScriptedExtractor() as server:
        yield server


@pytest.fixture
async def client() -> AsyncIterator[HttpExtractorClient]:
    async with a_client() as made:
        yield made


@asynccontextmanager
async def a_client(**options: Any) -> AsyncIterator[HttpExtractorClient]:
    made = HttpExtractorClient(**{"allowed_networks": LOOPBACK, **options})
    try:
        yield made
    finally:
        await made.close()


def get(url: str, **changes: Any) -> Call:
    return Call(**{"method": "GET", "url": url, "timeout": 5.0, "max_bytes": 10_000, **changes})


def post(url: str, **changes: Any) -> Call:
    return get(url, **{"method": "POST", "body": b"{}", **changes})


def names(**addresses: Sequence[str]) -> Callable[[str], Any]:
    """Return a lookup that knows these names only; underscores stand for dots."""
    known = {name.replace("_", "."): found for name, found in addresses.items()}

    async def lookup(host: str) -> Sequence[str]:
        if host not in known:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return known[host]

    return lookup


async def downloaded(client: HttpExtractorClient, call: Call) -> tuple[Answer, bytes]:
    async with client.download(call) as download:
        return download.answer, b"".join([chunk async for chunk in download.chunks])


async def fetch(how: str, client: HttpExtractorClient, call: Call) -> bytes:
    """Return the body, by exchange or download."""
    return (await client.exchange(call)).body if how == "exchange" else (await downloaded(client, call))[1]


both_ways = pytest.mark.parametrize("how", ["exchange", "download"])


async def endless(piece: bytes = b"x" * 1000) -> AsyncIterator[bytes]:
    while True:
        yield piece


async def stalling(*pieces: bytes) -> AsyncIterator[bytes]:
    """Yield the pieces and then nothing, without an end."""
    for piece in pieces:
        yield piece
    await asyncio.Event().wait()


# What is sent, what comes back


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


# Trouble


async def test_a_refused_connection_is_known_not_to_have_been_sent(client: HttpExtractorClient) -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        with pytest.raises(NoAnswer, match="doesn't accept connections") as trouble:
            await client.exchange(post(f"http://127.0.0.1:{unheard.getsockname()[1]}/"))
    assert not trouble.value.sent


async def test_a_name_that_does_not_resolve_is_known_not_to_have_been_sent() -> None:
    async with a_client(lookup=names()) as client:
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


@both_ways
async def test_a_truncated_body_is_no_answer(
    client: HttpExtractorClient, extractor: ScriptedExtractor, how: str
) -> None:
    extractor.on_path("/x", Reply(body=b"half", truncate=True), Reply(body=stalling_then_cut(), truncate=True))
    for _ in range(2):
        with pytest.raises(NoAnswer, match="broke off"):
            await fetch(how, client, get(f"{extractor.url}/x"))


async def stalling_then_cut() -> AsyncIterator[bytes]:
    yield b"some"


@both_ways
async def test_a_server_that_never_answers_is_given_up(
    client: HttpExtractorClient, extractor: ScriptedExtractor, how: str
) -> None:
    extractor.on_path("/x", Reply(hang=True))
    with pytest.raises(NoAnswer, match="gave no answer within") as trouble:
        await fetch(how, client, get(f"{extractor.url}/x", timeout=0.2))
    assert trouble.value.sent


@both_ways
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


# Bounds


@both_ways
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


async def of(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


@both_ways
async def test_an_endless_body_is_cut(client: HttpExtractorClient, extractor: ScriptedExtractor, how: str) -> None:
    extractor.on_path("/x", Reply(body=endless()))
    with pytest.raises(TooLarge):
        await fetch(how, client, get(f"{extractor.url}/x"))


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


@both_ways
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


@both_ways
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


@both_ways
@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(TEXT)[:-9]),
        ("gzip", gzip.compress(TEXT)[:-4] + b"\0\0\0\0"),
        ("gzip", b"plain text"),
        ("deflate", zlib.compress(TEXT)[:-5]),
        ("br", b"\x0b\x02\x80abc\x03"),
        ("gzip, gzip", gzip.compress(gzip.compress(TEXT))),
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


# Redirects


async def test_a_get_is_followed_within_its_origin_with_its_key(
    client: HttpExtractorClient, extractor: ScriptedExtractor
) -> None:
    extractor.on_path("/a", Reply(302, headers={"Location": "b/?x=1"}))
    extractor.on_path("/b/", Reply(307, headers={"Location": f"{extractor.url}/c"}))
    extractor.on_path("/c", Reply(body=b"here"))
    answer = await client.exchange(get(f"{extractor.url}/a", api_key=KEY))
    assert answer.body == b"here"
    assert [request.headers.get("Authorization") for request in extractor.requests] == ["Bearer canary-key"] * 3


@both_ways
async def test_credentials_stay_at_the_origin_of_the_call_even_when_it_comes_back(
    client: HttpExtractorClient, extractor: ScriptedExtractor, how: str
) -> None:
    async with ScriptedExtractor() as other:
        extractor.on_path("/a", Reply(301, headers={"Location": f"{other.url}/b"}))
        other.on_path("/b", Reply(308, headers={"Location": f"{extractor.url}/c"}))
        extractor.on_path("/c", Reply(body=b"back"))
        headers = {"Idempotency-Key": "7", "X-Api-Key": "canary", "Accept": "application/json"}
        assert await fetch(how, client, get(f"{extractor.url}/a", api_key=KEY, headers=headers)) == b"back"
        for request in (other.requests[0], extractor.requests[1]):
            assert not {"Authorization", "Idempotency-Key", "X-Api-Key"} & set(request.headers)
            assert request.headers["Accept"] == "application/json"
            assert "canary" not in str(request.headers)


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "//[::1]/",
        "file:///etc/passwd",
        "http://user:canary@example.com/",
        "http://2852039166/",
        "http://exa mple.com/",
    ],
)
async def test_a_redirect_to_an_address_that_may_not_be_called_is_refused(
    client: HttpExtractorClient, extractor: ScriptedExtractor, location: str
) -> None:
    extractor.on_path("/x", Reply(302, headers={"Location": location}))
    with pytest.raises(EgressRefused) as refusal:
        await client.exchange(get(f"{extractor.url}/x"))
    assert "canary" not in str(refusal.value)


async def test_a_redirect_loop_ends_after_three(client: HttpExtractorClient, extractor: ScriptedExtractor) -> None:
    extractor.on_path("/x", lambda _: Reply(302, headers={"Location": "/x"}))
    with pytest.raises(NoAnswer, match="more than 3 redirects"):
        await client.exchange(get(f"{extractor.url}/x"))
    assert len(extractor.requests) == 4


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirected_submission_is_not_sent_again(
    client: HttpExtractorClient, extractor: ScriptedExtractor, status: int
) -> None:
    extractor.on_path("/extract", Reply(status, b"moved", headers={"Location": "/elsewhere"}))
    answer = await client.exchange(post(extractor.extraction_url))
    assert (answer.status, answer.body, answer.headers["location"]) == (status, b"moved", "/elsewhere")
    assert len(extractor.requests) == 1


async def test_a_redirect_without_a_location_is_the_answer(
    client: HttpExtractorClient, extractor: ScriptedExtractor
) -> None:
    extractor.on_path("/x", Reply(302, b"where?"))
    assert (await client.exchange(get(f"{extractor.url}/x"))).body == b"where?"


# The guard


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/", "http://[::1]/", "http://169.254.169.254/", "ftp://a/", "http://0/"]
)
@both_ways
async def test_literal_addresses_are_checked(client: HttpExtractorClient, url: str, how: str) -> None:
    with pytest.raises(EgressRefused):
        await fetch(how, client, get(url))


async def test_loopback_is_refused_unless_listed(extractor: ScriptedExtractor) -> None:
    async with a_client(allowed_networks=()) as client:
        for url in (extractor.extraction_url, extractor.extraction_url.replace("127.0.0.1", "localhost")):
            with pytest.raises(EgressRefused, match="EGRESS_ALLOWED_NETWORKS"):
                await client.exchange(post(url))
    assert extractor.requests == []


@pytest.mark.parametrize("address", ["10.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fe80::1%1", "0.0.0.0"])
async def test_a_name_is_refused_for_what_it_leads_to(address: str) -> None:
    async with a_client(lookup=names(extractor_test=[address])) as client:
        with pytest.raises(EgressRefused, match=r"extractor\.test:8080 may not be called"):
            await client.exchange(get("http://extractor.test:8080/"))


async def test_of_several_addresses_only_those_that_may_be_are_called(extractor: ScriptedExtractor) -> None:
    lookup = names(extractor_test=["169.254.169.254", "::1", "127.0.0.1"])
    async with a_client(lookup=lookup) as client:
        answer = await client.exchange(post(extractor.extraction_url.replace("127.0.0.1", "extractor.test")))
    assert answer.status == 201
    assert extractor.requests[0].headers["Host"].startswith("extractor.test:")


async def test_a_name_is_looked_up_once_and_the_checked_address_is_called(extractor: ScriptedExtractor) -> None:
    answers = [["127.0.0.1"], ["169.254.169.254"], ["10.0.0.1"]]

    async def rebinding(_: str) -> Sequence[str]:
        return answers.pop(0)

    async with a_client(lookup=rebinding) as client:
        url = extractor.extraction_url.replace("127.0.0.1", "extractor.test")
        assert (await client.exchange(post(url))).status == 201
    assert len(answers) == 2
    async with a_client(lookup=rebinding) as client:
        with pytest.raises(EgressRefused):
            await client.exchange(post(url))


async def test_names_are_resolved_by_the_system(extractor: ScriptedExtractor) -> None:
    async with a_client(allowed_networks=(*LOOPBACK, ip_network("::1"))) as client:
        answer = await client.exchange(post(extractor.extraction_url.replace("127.0.0.1", "LocalHost")))
    assert answer.status == 201


# TLS


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
async def secure(authority: trustme.CA) -> AsyncIterator[ScriptedExtractor]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("extractor.test", "127.0.0.1").configure_cert(context)
    async with ScriptedExtractor(tls=context) as server:
        yield server


def trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


@pytest.mark.parametrize("host", ["127.0.0.1", "extractor.test", "extractor.test."])
async def test_tls_is_verified_by_name(authority: trustme.CA, secure: ScriptedExtractor, host: str) -> None:
    lookup = names(extractor_test=["127.0.0.1"], extractor_test_=["127.0.0.1"])
    async with a_client(tls=trusting(authority), lookup=lookup) as client:
        assert (await client.exchange(post(secure.extraction_url.replace("127.0.0.1", host)))).status == 201


async def test_a_certificate_for_another_name_is_not_trusted(authority: trustme.CA, secure: ScriptedExtractor) -> None:
    async with a_client(tls=trusting(authority), lookup=names(other_test=["127.0.0.1"])) as client:
        with pytest.raises(NoAnswer, match="certificate") as trouble:
            await client.exchange(post(secure.extraction_url.replace("127.0.0.1", "other.test")))
    assert not trouble.value.sent
    assert secure.requests == []


async def test_a_certificate_of_an_unknown_authority_is_not_trusted(
    client: HttpExtractorClient, secure: ScriptedExtractor
) -> None:
    with pytest.raises(NoAnswer, match="certificate"):
        await client.exchange(post(secure.extraction_url, api_key=KEY))
    assert secure.requests == []


async def test_a_server_without_tls_is_no_answer(client: HttpExtractorClient, extractor: ScriptedExtractor) -> None:
    with pytest.raises(NoAnswer, match="TLS"):
        await client.exchange(post(extractor.extraction_url.replace("http:", "https:"), api_key=KEY))


async def test_nobody_is_sent_from_https_to_http(
    authority: trustme.CA, secure: ScriptedExtractor, extractor: ScriptedExtractor
) -> None:
    secure.on_path("/x", Reply(302, headers={"Location": f"{extractor.url}/y"}))
    async with a_client(tls=trusting(authority)) as client:
        with pytest.raises(EgressRefused, match="from https to http"):
            await client.exchange(get(f"{secure.url}/x"))
    assert extractor.requests == []


# Silence


def logged(error: Exception) -> str:
    """Return what a log shows of an error, without the source lines of this file."""
    return "".join(line for line in traceback.format_exception(error) if __file__ not in line)


@both_ways
async def test_no_failure_tells_a_key_or_a_signature(
    client: HttpExtractorClient, extractor: ScriptedExtractor, how: str
) -> None:
    scripts = {
        "/drop": Reply(drop=True),
        "/cut": Reply(body=b"canary", truncate=True),
        "/hang": Reply(hang=True),
        "/large": Reply(body=b"canary" * 10_000),
        "/many": Reply(headers={f"X-{i}": "canary" for i in range(200)}),
        "/long": Reply(headers={"X": "canary" * 10_000}),
        "/gzip": Reply(body=b"canary", headers={"Content-Encoding": "gzip"}),
        "/away": Reply(302, headers={"Location": "http://10.0.0.1/?sig=canary"}),
        "/strange": Reply(302, headers={"Location": "http://canary:canary@a/?sig=canary"}),
    }
    urls = [extractor.url + path for path in scripts] + ["http://127.0.0.1:1/", "http://10.0.0.1/", "nonsense:/"]
    for path, reply in scripts.items():
        extractor.on_path(path, reply)
    for url in urls:
        call = get(f"{url}?sig=canary", api_key=KEY, headers={"X-Api-Key": "canary"}, timeout=0.2)
        with pytest.raises(FluxxError) as trouble:
            await fetch(how, client, call)
        assert "canary" not in str(trouble.value)
        assert "canary" not in logged(trouble.value)
