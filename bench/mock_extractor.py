"""An extractor that costs next to nothing: raw HTTP/1.1 on asyncio, contract v1, counts its requests.

``POST /…`` → 201; ``GET /…/{jobId}`` → not ready ``--not-ready`` times, then ``--size`` bytes of result;
``GET /stats`` → what it saw; ``GET /arrivals`` → the polls since the last such request, one line each: job
and Unix time. Prints its port.
"""

import argparse
import asyncio
import json
import time
from collections import Counter

import uvloop

READY_HEAD = b'{"isReady":true,"result":'
NOT_READY = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n{"isReady":false}'
CREATED = b"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


class Extractor:
    """What all connections share."""

    def __init__(self, *, not_ready: int, size: int) -> None:
        self.not_ready = not_ready
        body = READY_HEAD + json.dumps({"text": "x" * (size - 11)}, separators=(",", ":")).encode() + b"}"
        self.ready = _ok(body)
        self.polls: Counter[bytes] = Counter()
        self.submissions: Counter[bytes] = Counter()
        self.arrivals: list[tuple[bytes, float]] = []

    def answer(self, method: bytes, path: bytes, body: bytes) -> bytes:
        if method == b"POST":
            at = body.index(b'"jobId":"') + 9
            self.submissions[body[at : at + 36]] += 1
            return CREATED
        if path == b"/stats":
            return _ok(json.dumps(self._stats()).encode())
        if path == b"/arrivals":
            lines, self.arrivals = [b"%s %f" % one for one in self.arrivals], []
            return _ok(b"\n".join(lines))
        job = path[-36:]
        self.polls[job] += 1
        self.arrivals.append((job, time.time()))
        return NOT_READY if self.polls[job] <= self.not_ready else self.ready

    def _stats(self) -> dict[str, int]:
        return {
            "submissions": self.submissions.total(),
            "jobs": len(self.submissions),
            "polls": self.polls.total(),
        }


def _ok(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


class Connection(asyncio.Protocol):
    """One keep-alive connection."""

    def __init__(self, extractor: Extractor) -> None:
        self.extractor = extractor
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = self.buffer[:end]
            length = 0
            lowered = head.lower()
            if (at := lowered.find(b"\r\ncontent-length:")) >= 0:
                length = int(lowered[at + 17 :].split(b"\r\n", 1)[0])
            if len(self.buffer) < end + 4 + length:
                return
            body = self.buffer[end + 4 : end + 4 + length]
            self.buffer = self.buffer[end + 4 + length :]
            method, path, _ = head.split(b" ", 2)
            self.transport.write(self.extractor.answer(method, path, body))


async def serve(extractor: Extractor) -> None:
    server = await asyncio.get_running_loop().create_server(lambda: Connection(extractor), "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--not-ready", type=int, default=2)
    parser.add_argument("--size", type=int, default=4096)
    options = parser.parse_args()
    uvloop.run(serve(Extractor(not_ready=options.not_ready, size=options.size)))
