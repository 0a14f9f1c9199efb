"""The two real extractors, as the child process that ``demo_extractors`` starts and ends.

It ends when its standard input ends, so that it never outlives a parent that was killed. Its first
line of input is the API key to ask for; its only line of output is its address, or a complaint.
"""

import asyncio
import signal
import sys
from typing import Final

from fluxx.errors import FluxxError
from fluxx.extractors.contract import Kind
from fluxx.extractors.run import serve
from fluxx.telemetry import Facts

KINDS: Final[tuple[Kind, ...]] = ("text", "tables")


async def _serve_until_input_ends() -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    api_key = (await reader.readline()).decode().strip()
    async with serve(KINDS, facts=Facts(), api_key=api_key) as running:
        _say(running.url)
        await reader.read()


def _say(words: str) -> None:
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


def main() -> None:
    """Serve until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle: it ends this child
    try:
        asyncio.run(_serve_until_input_ends())
    except FluxxError as error:
        _say(str(error))


if __name__ == "__main__":
    main()
