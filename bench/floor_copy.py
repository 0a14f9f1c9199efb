"""The floor of a large result: aiohttp into a file, with its SHA-256, brought to the disk. One stream, one thread.

Usage: floor_copy.py URL FILE
Prints the seconds it took.
"""

import hashlib
import os
import sys
import time
from pathlib import Path

import aiohttp
import uvloop


async def main(url: str, target: Path) -> None:
    began, sha256 = time.monotonic(), hashlib.sha256()
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        with target.open("wb") as file:
            async for piece in answer.content.iter_any():
                sha256.update(piece)
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
    sha256.hexdigest()
    print(time.monotonic() - began)


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], Path(sys.argv[2])))
