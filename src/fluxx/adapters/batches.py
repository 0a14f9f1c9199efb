"""Streams in pieces worth the trip: what comes in drops is gathered, what comes whole stays whole."""

from collections.abc import AsyncIterable, AsyncIterator


async def batches(content: AsyncIterable[bytes], size: int) -> AsyncIterator[bytes]:
    """Yield ``content`` in pieces of at least ``size`` bytes; only the last one may be shorter."""
    gathered: list[bytes] = []
    waiting = 0
    async for chunk in content:
        gathered.append(chunk)
        waiting += len(chunk)
        if waiting >= size:
            yield b"".join(gathered)
            gathered.clear()
            waiting = 0
    if gathered:
        yield b"".join(gathered)
