"""The named points of a job's way where faults are put in, by wrapping what a world is made of.

Whoever wants a fault hands in what is to happen when a point is reached::

    world = with_points(world, reached)  # async def reached(point: str) -> None

``AFTER_SUBMIT`` lies between the extractor's taking the job and its answer, so the extractor reaches it.
"""

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Final, TypeAlias
from uuid import UUID

from msgspec.structs import replace

from fluxx.model.transitions import Transition
from fluxx.ports.blobs import Stored
from fluxx.ports.bus import Bus, Message
from fluxx.ports.extractor import Answer, Call
from fluxx.ports.jobs import Due
from fluxx.wiring import World

Reached: TypeAlias = Callable[[str], Awaitable[None]]

AFTER_CLAIM: Final = "after claim"
BEFORE_SUBMIT: Final = "before submit"
AFTER_SUBMIT: Final = "after submit"
AFTER_ANSWER: Final = "after answer"
BEFORE_COMMIT: Final = "before commit"
AFTER_COMMIT: Final = "after commit"
BEFORE_PUBLISH: Final = "before publish"
AFTER_PUBLISH: Final = "after publish"
BEFORE_MARK: Final = "before mark"
IN_A_BLOB: Final = "in the middle of a blob"
POINTS: Final = (
    AFTER_CLAIM,
    BEFORE_SUBMIT,
    AFTER_SUBMIT,
    AFTER_ANSWER,
    BEFORE_COMMIT,
    AFTER_COMMIT,
    BEFORE_PUBLISH,
    AFTER_PUBLISH,
    BEFORE_MARK,
    IN_A_BLOB,
)

HALF_A_BLOB: Final = 2**20 + 2**19
"""Bytes after which a result is in the middle; most of them are on the disk by then."""


def with_points(world: World, reached: Reached) -> World:
    """Return the world with every point but ``AFTER_SUBMIT`` in it."""
    return replace(
        world,
        jobs=_Jobs(world.jobs, reached),
        extractors=_Extractors(world.extractors, reached),
        bus=_Bus(world.bus, world.settings.topic_job_status, reached),
        outbox=_Outbox(world.outbox, reached),
        blobs=_Blobs(world.blobs, reached),
    )


class _Around:
    """A port's methods as they are, but for those of a subclass."""

    def __init__(self, inner: Any, reached: Reached) -> None:
        self._inner = inner
        self._reached = reached

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Jobs(_Around):
    async def claim(
        self, *, lease: float, limit: int, without: frozenset[UUID] = frozenset(), ahead: float = 0.0
    ) -> Due:
        due: Due = await self._inner.claim(lease=lease, limit=limit, without=without, ahead=ahead)
        if due.jobs:
            await self._reached(AFTER_CLAIM)
        return due

    async def apply(self, transition: Transition) -> bool:
        await self._reached(BEFORE_COMMIT)
        written: bool = await self._inner.apply(transition)
        if written:
            await self._reached(AFTER_COMMIT)
        return written


class _Extractors(_Around):
    async def exchange(self, call: Call) -> Answer:
        if call.method != "POST":
            polled: Answer = await self._inner.exchange(call)
            return polled
        await self._reached(BEFORE_SUBMIT)
        answer: Answer = await self._inner.exchange(call)
        await self._reached(AFTER_ANSWER)
        return answer


class _Bus(_Around):
    def __init__(self, inner: Bus, topic: str, reached: Reached) -> None:
        super().__init__(inner, reached)
        self._topic = topic

    async def publish(self, topic: str, messages: Sequence[Message]) -> None:
        if topic != self._topic:
            await self._inner.publish(topic, messages)
            return
        await self._reached(BEFORE_PUBLISH)
        await self._inner.publish(topic, messages)
        await self._reached(AFTER_PUBLISH)


class _Outbox(_Around):
    async def mark_published(self, outbox_ids: Sequence[int]) -> None:
        await self._reached(BEFORE_MARK)
        await self._inner.mark_published(outbox_ids)


class _Blobs(_Around):
    async def write(self, path: str, content: bytes | AsyncIterable[bytes], **options: Any) -> Stored:
        is_result = path.startswith("results/") and not isinstance(content, bytes)
        stored: Stored = await self._inner.write(path, self._halted(content) if is_result else content, **options)
        return stored

    async def _halted(self, content: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        size = 0
        async for piece in content:
            yield piece
            size += len(piece)
            if size > HALF_A_BLOB:
                await self._reached(IN_A_BLOB)
