"""The floor of polling: jobs polled over bare aiohttp at their time, and nothing else. No database, no results.

Each job waits as ours do: the interval, less up to a tenth by chance, from the answer to its last poll.

Usage: floor_inflight.py URL-OF-EXTRACTOR JOBS INTERVAL DUE-FILE
Prints "ready"; a line on standard input ends it, and it writes down which poll was due when.
"""

import asyncio
import json
import random
import sys
import time
import uuid
from pathlib import Path

import aiohttp
import uvloop

SPREAD = 0.1


async def poll(session: aiohttp.ClientSession, url: str, wait: float, interval: float, due: list[str]) -> None:
    job = str(uuid.uuid4())
    headers = {"Authorization": "Bearer key"}
    while True:
        due.append(f"{job} {time.time() + wait}")
        await asyncio.sleep(wait)
        async with session.get(f"{url}/{job}", headers=headers) as answer:
            assert json.loads(await answer.read())["isReady"] is False
        wait = interval * (1 - SPREAD * random.random())


async def main(url: str, jobs: int, interval: float, due_file: Path) -> None:
    due: list[str] = []
    connector = aiohttp.TCPConnector(limit=256)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:
        polls = [
            asyncio.ensure_future(poll(session, url, 1 + interval * (1 - SPREAD / 2) * number / jobs, interval, due))
            for number in range(jobs)
        ]
        print("ready", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        for one in polls:
            one.cancel()
        await asyncio.gather(*polls, return_exceptions=True)
    await asyncio.to_thread(due_file.write_text, "\n".join(due))
    print("written", flush=True)


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4])))
