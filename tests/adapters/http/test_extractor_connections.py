"""The HTTP extractor client's connections: which are kept, who gets one, and that none is left behind."""

import asyncio
import gc
import socket
import warnings
from ipaddress import ip_network

import pytest

from fluxx.adapters.http.client import HttpExtractorClient
from fluxx.adapters.http.connecting import Connector
from fluxx.adapters.http.connection import Connection
from fluxx.adapters.http.egress import EgressGuard
from fluxx.adapters.http.pool import Pool
from fluxx.adapters.http.resolving import Names
from fluxx.adapters.http.target import Origin
from fluxx.errors import NoAnswer, Unavailable
from fluxx.ports.extractor import Call
from support.calls import LOOPBACK, a_client, endless, get, names, post
from support.limits import nothing_can_be_opened
from support.raw_server import RawServer
from support.scripted import Reply, ScriptedExtractor

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
NONE = b"HTTP/1.1 204 No Content\r\n\r\n"
INTERIM = b"HTTP/1.1 103 Early Hints\r\n\r\n" + OK


@pytest.mark.parametrize("raw", [OK, CHUNKED, NONE, INTERIM])
async def test_a_connection_serves_call_after_call(client: HttpExtractorClient, raw: bytes) -> None:
    async with RawServer(raw) as server:
        for _ in range(5):
            await client.exchange(get(server.url))
        assert (server.connections, server.requests) == (1, 5)


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        OK + OK,
        OK + b"garbage",
    ],
    ids=["close", "old", "answer", "garbage"],
)
async def test_a_connection_that_says_more_or_goodbye_is_not_used_again(
    client: HttpExtractorClient, raw: bytes
) -> None:
    async with RawServer(raw) as server:
        for _ in range(3):
            assert (await client.exchange(get(server.url))).body == b"ok"
        assert (server.connections, server.requests) == (3, 3)


async def test_each_call_on_a_connection_has_a_time_of_its_own(
    client: HttpExtractorClient, extractor: ScriptedExtractor
) -> None:
    extractor.on_path("/", *[Reply(body=b"ok")] * 2, Reply(body=b"ok", delay=0.5), Reply(hang=True))
    for patience in (5.0, 0.3, 5.0):  # the short one's end comes during the last
        assert (await client.exchange(get(f"{extractor.url}/", timeout=patience))).body == b"ok"
    began = asyncio.get_running_loop().time()
    with pytest.raises(NoAnswer):
        await client.exchange(get(f"{extractor.url}/", timeout=0.2))
    assert 0.15 < asyncio.get_running_loop().time() - began < 3


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "extractor.test"])
async def test_where_no_file_can_be_opened_no_extractor_is_to_blame(client: HttpExtractorClient, host: str) -> None:
    """Else a job would fail for it: what an extractor does wrong is counted, what this machine lacks is not.

    A process that has looked a name up before is told that an argument is invalid (glibc), and not what lacks.
    """
    socket.getaddrinfo("localhost", None)
    with pytest.raises(Unavailable, match=r"ulimit -n"), nothing_can_be_opened():
        await client.exchange(get(f"http://{host}:9/"))


async def test_bytes_that_come_unasked_end_a_resting_connection(client: HttpExtractorClient) -> None:
    accepted: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK)
        accepted.put_nowait((reader, writer))

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server, asyncio.timeout(5):
        call = get(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
        assert (await client.exchange(call)).body == b"ok"
        reader, writer = await accepted.get()
        writer.write(OK.replace(b"ok", b"no"))
        assert await reader.read() == b""
        writer.close()
        assert (await client.exchange(call)).body == b"ok"
        (await accepted.get())[1].close()


async def test_a_connection_that_closes_unnoticed_by_a_busy_loop_is_not_used_again(client: HttpExtractorClient) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        call = post(f"http://127.0.0.1:{server.getsockname()[1]}/")
        for _ in range(2):
            asked = asyncio.create_task(client.exchange(call))
            accepted, _ = await asyncio.to_thread(server.accept)
            await asyncio.to_thread(accepted.recv, 10_000)
            accepted.sendall(OK)
            assert (await asked).body == b"ok"
            accepted.close()  # and nothing is awaited until the next call


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nX: a\nContent-Length: 2\r\n\r\nok",
    ],
)
async def test_a_broken_answer_ends_its_connection(client: HttpExtractorClient, raw: bytes) -> None:
    async with RawServer(raw, OK) as server:
        with pytest.raises(NoAnswer, match="isn't HTTP"):
            await client.exchange(get(server.url))
        await server.wait_for(lambda: server.open == 0)
        assert (await client.exchange(get(server.url))).body == b"ok"


async def test_a_connection_that_the_server_has_closed_is_not_used_again(client: HttpExtractorClient) -> None:
    async with RawServer(OK, then_close=True) as server:
        for made in range(1, 6):
            assert (await client.exchange(post(server.url))).status == 200
            await server.wait_for(lambda: server.open == 0)
            assert server.connections == made


async def test_a_body_of_no_announced_length_is_read_to_the_end(client: HttpExtractorClient) -> None:
    async with RawServer(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 9000, then_close=True) as server:
        for _ in range(2):
            assert (await client.exchange(get(server.url))).body == b"x" * 9000


async def test_the_head_of_what_a_head_asked_for_is_all_of_it(client: HttpExtractorClient) -> None:
    async with RawServer(b"HTTP/1.1 200 OK\r\nContent-Length: 700\r\n\r\n") as server:
        answer = await client.exchange(get(server.url, method="HEAD"))
    assert (answer.headers["content-length"], answer.body) == ("700", b"")


async def test_there_are_never_more_connections_than_allowed_and_calls_take_turns() -> None:
    async with RawServer(OK) as server, a_client(max_connections=3) as client:
        await asyncio.gather(*(client.exchange(get(server.url)) for _ in range(50)))
        assert (server.connections, server.requests) == (3, 50)


async def test_waiting_for_a_connection_is_bounded_and_known_not_to_have_been_sent(
    extractor: ScriptedExtractor,
) -> None:
    extractor.on_path("/hang", Reply(hang=True))
    async with a_client(max_connections=1) as client:
        stuck = asyncio.create_task(client.exchange(get(f"{extractor.url}/hang", timeout=30)))
        await extractor.wait_for(lambda: extractor.requests)
        with pytest.raises(NoAnswer, match="gave no answer within") as trouble:
            await client.exchange(post(extractor.extraction_url, timeout=0.1))
        assert not trouble.value.sent
        stuck.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stuck
        assert (await client.exchange(post(extractor.extraction_url))).status == 201


async def test_a_cancelled_call_closes_its_connection_and_frees_its_place(client: HttpExtractorClient) -> None:
    async with RawServer(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", OK) as server:
        call = asyncio.create_task(client.exchange(get(server.url)))
        await server.wait_for(lambda: server.requests == 1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await server.wait_for(lambda: server.open == 0)
        assert (await client.exchange(get(server.url))).body == b"ok"
        assert server.connections == 2


@pytest.mark.parametrize("steps", range(14))
async def test_a_call_may_be_cancelled_at_every_step_of_the_event_loop(steps: int) -> None:
    async with RawServer(OK) as server:
        for _ in range(10):
            async with a_client() as client, asyncio.timeout(10):
                call = asyncio.create_task(client.exchange(get(server.url)))
                for _ in range(steps):
                    await asyncio.sleep(0)
                call.cancel()
                await asyncio.gather(call, return_exceptions=True)
        await server.wait_for(lambda: server.open == 0)


async def test_a_call_cancelled_while_it_waits_lets_the_next_one_pass(extractor: ScriptedExtractor) -> None:
    extractor.on_path("/hang", Reply(hang=True))
    async with a_client(max_connections=1) as client:
        first, second, third = (
            asyncio.create_task(client.exchange(call))
            for call in (get(f"{extractor.url}/hang"), post(extractor.extraction_url), post(extractor.extraction_url))
        )
        await extractor.wait_for(lambda: extractor.requests)
        second.cancel()
        first.cancel()
        assert (await third).status == 201
        assert [type(one) for one in await asyncio.gather(first, second, return_exceptions=True)] == [
            asyncio.CancelledError
        ] * 2


async def test_resting_connections_make_room_for_other_origins() -> None:
    async with RawServer(OK) as first, RawServer(OK) as second, a_client(max_connections=2) as client:
        await asyncio.gather(*(client.exchange(get(first.url)) for _ in range(2)))
        await client.exchange(get(second.url))
        await first.wait_for(lambda: first.open == 1)
        await client.exchange(get(first.url))
        assert (first.connections, second.connections) == (2, 1)


async def test_idle_connections_are_closed() -> None:
    connector = Connector(guard=EgressGuard(LOOPBACK), names=Names(names({})), tls=None, timeout=5)
    pool = Pool(connector.connect, max_connections=4, idle_seconds=0.05)
    until = asyncio.get_running_loop().time() + 5
    async with RawServer(OK) as server:
        for _ in range(2):
            lent = [await pool.take(Origin.parse(server.url), until=until) for _ in range(2)]
            for connection in lent:
                await connection.ask(b"GET / HTTP/1.1\r\n\r\n", until=until)
                assert await connection.read() == b"ok"
                pool.give_back(connection)
            await server.wait_for(lambda: server.open == 0)
        assert server.connections == 4
    await pool.close()


async def test_the_next_address_is_tried_where_one_fails(extractor: ScriptedExtractor) -> None:
    lookup = names({"extractor.test": ["127.0.0.9", "::1", "127.0.0.1"]})
    async with a_client(allowed_networks=(*LOOPBACK, ip_network("::1")), lookup=lookup) as client:
        answer = await client.exchange(post(extractor.extraction_url.replace("127.0.0.1", "extractor.test")))
    assert answer.status == 201


async def test_calls_at_the_same_time_share_a_lookup(extractor: ScriptedExtractor) -> None:
    asked: list[str] = []

    async def lookup(host: str) -> list[str]:
        asked.append(host)
        await asyncio.sleep(0)
        return ["127.0.0.1"]

    url = extractor.extraction_url.replace("127.0.0.1", "extractor.test")
    async with a_client(lookup=lookup) as client:
        await asyncio.gather(*(client.exchange(post(url)) for _ in range(20)))
    assert asked == ["extractor.test"]


async def test_a_slow_reader_makes_the_server_wait(client: HttpExtractorClient, extractor: ScriptedExtractor) -> None:
    given = 0

    async def counted() -> object:
        nonlocal given
        async for piece in endless(b"x" * 2**16):
            given += len(piece)
            yield piece

    extractor.on_path("/large", Reply(body=counted()))
    async with client.download(get(f"{extractor.url}/large", max_bytes=2**40)) as download:
        await anext(download.chunks)
        before = -1
        while before < given:  # until what the server gives has come to a stand in the buffers between
            before = given
            await asyncio.gather(*(client.exchange(post(extractor.extraction_url)) for _ in range(20)))
        read = 0
        async for chunk in download.chunks:
            read += len(chunk)
            if read > 2 * before:
                break
    assert before < 32 * 2**20
    assert given > before


async def test_close_ends_calls_that_still_run(extractor: ScriptedExtractor) -> None:
    extractor.on_path("/hang", Reply(hang=True))
    async with a_client() as client:
        stuck = asyncio.create_task(client.exchange(get(f"{extractor.url}/hang")))
        await extractor.wait_for(lambda: extractor.requests)
    with pytest.raises(NoAnswer, match="lost the connection"):
        await stuck
    with pytest.raises(NoAnswer):
        await client.exchange(post(extractor.extraction_url))


async def test_nothing_is_left_behind(extractor: ScriptedExtractor) -> None:
    extractor.on_path("/drop", lambda _: Reply(drop=True))
    extractor.on_path("/cut", lambda _: Reply(body=b"half", truncate=True))
    extractor.on_path("/hang", lambda _: Reply(hang=True))
    paths = ["extract", "extract", "drop", "cut", "hang"]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        async with a_client(max_connections=8) as client:
            calls = [post(f"{extractor.url}/{paths[i % 5]}", timeout=5 if i % 5 < 4 else 0.05) for i in range(200)]
            assert set(await asyncio.gather(*(result(client, call) for call in calls))) == {"Answer", "NoAnswer"}
            assert 0 < len(connections()) <= 8
        del client
        assert connections() == []


async def result(client: HttpExtractorClient, call: Call) -> str:
    try:
        return type(await client.exchange(call)).__name__
    except NoAnswer:
        return NoAnswer.__name__


def connections() -> list[Connection]:
    """What there is of them in memory, the client's idle ones included."""
    gc.collect()
    return [each for each in gc.get_objects() if isinstance(each, Connection)]
