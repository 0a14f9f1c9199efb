"""A file of 500 MB in and a result of 300 MB out, in a process that stays small."""

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

from support.process import FluxxProcess, finished
from support.scripted import Reply, ScriptedExtractor

MEGABYTE = 10**6
FILE_SIZE = 500 * MEGABYTE
RESULT_SIZE = 300 * MEGABYTE
MEMORY_BOUND = 200 * MEGABYTE
BOUNDARY = "a-made-up-boundary"


async def test_large_files_and_results_pass_through_a_small_process(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with (
        ScriptedExtractor() as extractor,
        FluxxProcess("up", "--port", "0", home=home, environment={"POLL_INTERVAL_SECONDS": "0.2"}) as fluxx,
        fluxx.client() as http,
    ):
        extractor.on_poll(Reply(body={"isReady": True, "resultUrl": "/large"}))
        extractor.on_path("/large", lambda _: Reply(body=_pieces(RESULT_SIZE)))
        answer = await http.post("/registration/client-applications", json={"name": "Archive"})
        client = answer.json()["clientApplicationId"]
        wanted = {"name": "ocr", "extractionUrl": extractor.extraction_url, "apiKey": "a-made-up-key"}
        await http.post(f"/registration/{client}/extractors", json=wanted)
        uploaded = await http.post(
            "/files",
            params={"clientApplicationId": client},
            headers={"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"},
            content=_multipart(FILE_SIZE),
        )
        assert uploaded.status_code == 202, uploaded.text
        file_id = uploaded.json()["fileId"]
        [job] = await finished(http, file_id, count=1)

        assert job["status"] == "Succeeded", job["statusMessage"]
        assert job["resultSize"] == RESULT_SIZE
        assert job["resultSha256"] == await _sha256(_pieces(RESULT_SIZE))
        stored = home / "blobs" / "files" / client / file_id / "content"
        assert stored.stat().st_size == FILE_SIZE
        assert _peak_memory(fluxx.pid) < MEMORY_BOUND


async def _pieces(size: int) -> AsyncIterator[bytes]:
    piece = bytes(range(256)) * 256
    left = size
    while left > 0:
        yield piece[: min(left, len(piece))]
        left -= len(piece)


async def _multipart(size: int) -> AsyncIterator[bytes]:
    yield f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="large.pdf"\r\n\r\n'.encode()
    async for piece in _pieces(size):
        yield piece
    yield f"\r\n--{BOUNDARY}--\r\n".encode()


async def _sha256(pieces: AsyncIterator[bytes]) -> str:
    digest = hashlib.sha256()
    async for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def _peak_memory(pid: int) -> int:
    """The largest resident set (bytes) that the process ever had."""
    status = Path(f"/proc/{pid}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024
