"""An extractor whose one result is large: ``POST`` → 201, ``GET /…/{jobId}`` → a ``resultUrl``, ``GET /result`` → it.

Usage: large_extractor.py MEGABYTES
Prints its port. The result is valid JSON: a text of x's.
"""

import asyncio
import sys

import uvloop

PIECE = b"x" * 2**20
HEAD = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
READY = b'{"isReady":true,"resultUrl":"/result"}'


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, megabytes: int) -> None:
    try:
        while True:
            method, path, _ = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)
            if method == b"POST":
                await reader.readuntil(b"}")
                writer.write(HEAD % (b"201 Created", 2) + b"{}")
            elif path == b"/result":
                await write_result(writer, megabytes)
            else:
                writer.write(HEAD % (b"200 OK", len(READY)) + READY)
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def write_result(writer: asyncio.StreamWriter, megabytes: int) -> None:
    writer.write(HEAD % (b"200 OK", megabytes * len(PIECE)) + b'"')
    for _ in range(megabytes - 1):
        writer.write(PIECE)
        await writer.drain()
    writer.write(PIECE[2:] + b'"')


async def main(megabytes: int) -> None:
    server = await asyncio.start_server(lambda *streams: answer(*streams, megabytes), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
