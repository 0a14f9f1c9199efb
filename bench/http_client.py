"""CPU per HTTP exchange: our client, bare aiohttp and the floor, a small POST and a small GET (a poll).

All in one process on one core, in turn round by round, the extractor on the other core; CPU by the
system's accounting; medians of ROUNDS, and the ratio to bare aiohttp in the same round. Ours does
everything the product does (URL, guard, key, timeout, bounds). aiohttp is called as its manual says:
one session, the URL as text. The floor writes ready-made bytes and waits for the answer's last byte.
"""

import argparse
import asyncio
import json
import resource
import statistics
import sys
import time
import uuid
from collections import defaultdict
from collections.abc import Awaitable, Callable
from ipaddress import ip_network

import aiohttp
import uvloop

from fluxx.adapters.http.client import HttpExtractorClient
from fluxx.ports.extractor import Call
from fluxx.ports.secrets import ApiKey
from machine import OTHER_CORE, WORK_CORE, program, python
from report import save, table

Exchange = Callable[[Call], Awaitable[bytes]]
KEY = ApiKey("k" * 40)
TRACE = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
CONCURRENCY = (1, 64)


def post(url: str, job: str) -> Call:
    body = b'{"fileUrl":"http://files.test/files/%s/content?expires=1&signature=abcdefgh","jobId":"%s"}'
    headers = {"Content-Type": "application/json", "Idempotency-Key": job, **TRACE}
    content = body % (job.encode(), job.encode())
    return Call(method="POST", url=url, api_key=KEY, headers=headers, body=content, timeout=30, max_bytes=2**20)


def get(url: str, job: str) -> Call:
    return Call(method="GET", url=f"{url}/{job}", api_key=KEY, headers=TRACE, timeout=30, max_bytes=2**20)


class Floor(asyncio.Protocol):
    def __init__(self, free: list["Floor"]) -> None:
        self.free = free

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        if data.endswith(b"}"):
            self.waiter.set_result(data)

    async def ask(self, request: bytes) -> bytes:
        self.waiter = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        answer = await self.waiter
        self.free.append(self)
        return answer


def floor(port: int, free: list[Floor]) -> Exchange:
    async def exchange(call: Call) -> bytes:
        body = call.body or b""
        path = call.url[call.url.index("/", 8) :]
        head = f"{call.method} {path} HTTP/1.1\r\nHost: extractor\r\nContent-Length: {len(body)}\r\n\r\n"
        if free:
            connection = free.pop()
        else:
            _, connection = await asyncio.get_running_loop().create_connection(lambda: Floor(free), "127.0.0.1", port)
        return await connection.ask(head.encode() + body)

    return exchange


def bare_aiohttp(session: aiohttp.ClientSession) -> Exchange:
    async def exchange(call: Call) -> bytes:
        headers = {**call.headers, "Authorization": f"Bearer {KEY.reveal()}"}
        async with session.request(call.method, call.url, headers=headers, data=call.body) as answer:
            return await answer.read()

    return exchange


def ours(client: HttpExtractorClient) -> Exchange:
    async def exchange(call: Call) -> bytes:
        return (await client.exchange(call)).body

    return exchange


async def measured(exchange: Exchange, calls: list[Call], concurrency: int, count: int) -> dict[str, float]:
    async def worker(offset: int) -> None:
        for index in range(count // concurrency):
            assert (await exchange(calls[(offset + index) % len(calls)]))[-1:] == b"}"

    await asyncio.gather(*(exchange(calls[0]) for _ in range(concurrency)))
    cpu, began = cpu_seconds(), time.perf_counter()
    await asyncio.gather(*(worker(offset) for offset in range(concurrency)))
    done = count // concurrency * concurrency
    return {"cpu_us": 1e6 * (cpu_seconds() - cpu) / done, "per_s": done / (time.perf_counter() - began)}


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def rounds(url: str, number: int, count: int) -> dict[str, list[dict[str, float]]]:
    jobs = [str(uuid.uuid4()) for _ in range(500)]
    kinds = {"POST": [post(url, job) for job in jobs], "GET": [get(url, job) for job in jobs]}
    client = HttpExtractorClient(allowed_networks=[ip_network("127.0.0.0/8")])
    figures = defaultdict(list)
    connector = aiohttp.TCPConnector(limit=256)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:
        free: list[Floor] = []
        port = int(url.split("/")[2].split(":")[1])
        ways = {"floor": floor(port, free), "aiohttp": bare_aiohttp(session), "fluxx": ours(client)}
        for _ in range(number):
            for kind, calls in kinds.items():
                for concurrency in CONCURRENCY:
                    for name, exchange in ways.items():
                        one = await measured(exchange, calls, concurrency, count)
                        figures[f"{kind} {concurrency} {name}"].append(one)
        for connection in free:
            connection.transport.abort()
    await client.close()
    return figures


def show(figures: dict[str, list[dict[str, float]]]) -> None:
    rows = []
    for key, ours_and_others in figures.items():
        kind, concurrency, name = key.split()
        aiohttps = figures[f"{kind} {concurrency} aiohttp"]
        ratios = [one["cpu_us"] / other["cpu_us"] for one, other in zip(ours_and_others, aiohttps, strict=True)]
        cpu, speed = (statistics.median(one[field] for one in ours_and_others) for field in ("cpu_us", "per_s"))
        spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
        rows.append([kind, concurrency, name, f"{cpu:.0f}", f"{speed:.0f}", spread])
    table(["exchange", "at once", "client", "CPU us", "per s", "ratio to aiohttp (spread)"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--url", help=argparse.SUPPRESS)  # of the extractor: this is the process that is measured
    options = parser.parse_args()
    if options.url:
        print(json.dumps(uvloop.run(rounds(options.url, options.rounds, options.count))))
        return
    with program(python("mock_extractor.py", "--not-ready", str(10**9)), core=OTHER_CORE) as mock:
        url = f"http://127.0.0.1:{int(mock.stdout.readline())}/extract"
        arguments = ["--url", url, "--rounds", str(options.rounds), "--count", str(options.count)]
        with program(python("http_client.py", *arguments), core=WORK_CORE) as child:
            line = child.stdout.readline()
    if not line:
        sys.exit("the measured process failed")
    figures = json.loads(line)
    show(figures)
    save("http_client", figures)


if __name__ == "__main__":
    main()
