"""What stays of an upload when a part of the world fails in the middle."""

import random
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from uuid import UUID

import pytest

from fluxx import settings, wiring
from fluxx.clock import SystemClock
from fluxx.errors import Unavailable
from fluxx.intake.uploading import Uploading
from fluxx.model.job import File
from fluxx.ports.registrations import FileStore
from fluxx.telemetry import FILE_UPLOADED, Facts
from fluxx.wiring import World
from support.facts import FactsHeard


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with wiring.connect(
        settings.load(fluxx_home=tmp_path), facts=Facts(), clock=SystemClock(), chance=random.Random(1)
    ) as opened:
        yield opened


class AwayBus:
    """A bus that can't be reached."""

    async def publish(self, *_: object) -> None:
        raise Unavailable("The bus is away.")


class AwayFiles:
    """A table that can't be written."""

    def __init__(self, files: FileStore) -> None:
        self._files = files

    async def add_file(self, *_: object) -> None:
        raise Unavailable("The database is away.")

    async def file(self, file_id: UUID) -> File:
        return await self._files.file(file_id)

    async def files(self, file_ids: Sequence[UUID]) -> dict[UUID, File]:
        return await self._files.files(file_ids)


def uploading(world: World, **parts: object) -> Uploading:
    whole = {
        "registry": world.registry,
        "files": world.files,
        "blobs": world.blobs,
        "bus": world.bus,
        "topic": world.settings.topic_accepted_file,
        "max_bytes": 1000,
        "clock": world.clock,
        "facts": world.facts,
    }
    return Uploading(**(whole | parts))


async def upload(chapter: Uploading, client: UUID) -> File:
    async def content() -> AsyncIterator[bytes]:
        yield b"some bytes"

    return await chapter.upload(
        client_application_id=client, file_name="a.pdf", content_type="application/pdf", content=content()
    )


def blobs_of(world: World) -> list[Path]:
    return [path for path in (world.settings.fluxx_home / "blobs").rglob("content") if path.is_file()]


async def announced(world: World) -> int:
    topic, name = world.settings.topic_accepted_file, world.settings.accepted_file_subscription
    return len(await world.bus.subscription(topic, name).browse())


async def test_without_a_row_no_bytes_stay_and_nothing_is_announced(world: World) -> None:
    client = (await wiring.registering(world).register_client_application("x")).client_application_id
    with pytest.raises(Unavailable):
        await upload(uploading(world, files=AwayFiles(world.files)), client)
    assert blobs_of(world) == []
    assert await announced(world) == 0


async def test_without_the_message_the_caller_tries_again_and_the_file_stays_readable(world: World) -> None:
    heard = FactsHeard(world.facts)
    client = (await wiring.registering(world).register_client_application("x")).client_application_id
    with pytest.raises(Unavailable):
        await upload(uploading(world, bus=AwayBus()), client)
    [blob] = blobs_of(world)
    kept = await world.files.file(UUID(blob.parent.name))
    assert kept.size == len(b"some bytes")
    assert heard.of(FILE_UPLOADED) == []
    assert (await world.observer.backlog()).oldest_file_at is None

    again = await upload(uploading(world), client)
    assert again.file_id != kept.file_id
    assert await announced(world) == 1
    assert (await world.observer.backlog()).oldest_file_at == again.created_at


async def test_content_that_breaks_off_leaves_nothing(world: World) -> None:
    client = (await wiring.registering(world).register_client_application("x")).client_application_id

    async def broken() -> AsyncIterator[bytes]:
        yield b"the beginning"
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        await uploading(world).upload(client_application_id=client, file_name="a", content_type="a/b", content=broken())
    assert blobs_of(world) == []
    assert await announced(world) == 0


async def test_file_ids_are_in_the_order_of_their_making(world: World) -> None:
    client = (await wiring.registering(world).register_client_application("x")).client_application_id
    made = [(await upload(uploading(world), client)).file_id for _ in range(5)]
    assert made == sorted(made)
    assert len(set(made)) == 5
