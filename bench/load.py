"""Load on an HTTP API: connections that ask one thing after the other, over raw sockets, in a process of its own.

It looks at each answer (a 200 that holds the id asked for), which load generators don't.

Usage: load.py PORT PATHS-FILE CONNECTIONS SECONDS
``PATHS-FILE`` has a path and an id that the answer must hold, a line each. Prints what it measured as JSON.
"""

import asyncio
import json
import random
import sys
import time
from pathlib import Path

import uvloop


class Asker(asyncio.Protocol):
    """One keep-alive connection with one request at a time; answers carry a Content-Length."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.data += data
        head, end, body = self.data.partition(b"\r\n\r\n")
        if end and len(body) >= int(head.lower().split(b"\r\ncontent-length:")[1].split(b"\r\n")[0]):
            self.waiter.set_result(self.data)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.waiter.done():
            self.waiter.set_exception(exc or ConnectionError("closed"))

    async def ask(self, path: str) -> bytes:
        self.data = b""
        self.waiter = asyncio.get_running_loop().create_future()
        self.transport.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        return await self.waiter


async def ask_on(port: int, wanted: list[tuple[str, bytes]], end: float, times: list[float]) -> None:
    _, asker = await asyncio.get_running_loop().create_connection(Asker, "127.0.0.1", port)
    while time.perf_counter() < end:
        path, held = random.choice(wanted)
        began = time.perf_counter()
        answer = await asker.ask(path)
        times.append(time.perf_counter() - began)
        assert answer.startswith(b"HTTP/1.1 200 "), answer
        assert held in answer, answer


async def main(port: int, wanted: list[tuple[str, bytes]], connections: int, seconds: float) -> None:
    times: list[float] = []
    began = time.perf_counter()
    await asyncio.gather(*(ask_on(port, wanted, began + seconds, times) for _ in range(connections)))
    took = time.perf_counter() - began
    times.sort()
    p50, p99 = times[len(times) // 2], times[int(0.99 * len(times))]
    print(json.dumps({"requests_per_s": len(times) / took, "p50_ms": 1000 * p50, "p99_ms": 1000 * p99}))


if __name__ == "__main__":
    pairs = [line.split() for line in Path(sys.argv[2]).read_text().splitlines()]
    asked = [(path, held.encode()) for path, held in pairs]
    uvloop.run(main(int(sys.argv[1]), asked, int(sys.argv[3]), float(sys.argv[4])))
