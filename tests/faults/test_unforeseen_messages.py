"""A fault of ours with one message is told, with its trace; that message comes again, and no other waits for it."""

from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from msgspec.structs import replace

from fluxx.ports.blobs import Blobs
from fluxx.telemetry import FILE_ACCEPTED, MESSAGE_ABANDONED, MESSAGE_FAILED
from fluxx.wiring import World
from support.scripted import ScriptedExtractor
from support.service import house


class Choosy:
    """A blob store that has a fault with one file."""

    def __init__(self, inner: Blobs, file_id: UUID) -> None:
        self._inner = inner
        self._file_id = str(file_id)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def write(self, path: str, content: Any, **how: Any) -> Any:
        if self._file_id in path:
            raise ZeroDivisionError("nobody foresaw this")
        return await self._inner.write(path, content, **how)


async def test_one_message_that_nobody_foresaw_holds_up_no_other(tmp_path: Path) -> None:
    odd = uuid4()

    def around(world: World) -> World:
        return replace(world, blobs=Choosy(world.blobs, odd))

    async with ScriptedExtractor() as extractor, house(tmp_path, around=around) as fluxx:
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url)
        files = [odd, *(uuid4() for _ in range(3))]
        for file_id in files:
            url = f"{extractor.url}/file?sig=of-{file_id}"
            await fluxx.announce(client, file_id, message_id=f"m-{file_id}", file_url=url)
        await fluxx.heard.wait_for(FILE_ACCEPTED, 3)
        for file_id in files[1:]:
            [job] = await fluxx.finished(file_id)
            assert job["status"] == "Succeeded"
        [failed, *_] = await fluxx.heard.wait_for(MESSAGE_FAILED)
        [abandoned, *_] = await fluxx.heard.wait_for(MESSAGE_ABANDONED)
    assert failed == {"message_id": f"m-{odd}", "error": "ZeroDivisionError"}
    assert abandoned["message_id"] == f"m-{odd}"
