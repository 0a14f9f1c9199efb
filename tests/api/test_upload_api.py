"""``POST /files``: streamed into the blobs, announced last, refused with a reason."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from fluxx.messages import accepted_file
from fluxx.telemetry import FILE_UPLOADED, REQUEST_FAILED
from support.problems import problem_of
from support.service import House, house

pytestmark = pytest.mark.asyncio(loop_scope="module")

BOUNDARY = "the-boundary"
FORM = {"content-type": f"multipart/form-data; boundary={BOUNDARY}"}


def part(name: str, content: bytes, *, file_name: str | None = None, kind: str | None = None) -> bytes:
    """One part of a form, as it is sent."""
    disposition = f'form-data; name="{name}"' + (f'; filename="{file_name}"' if file_name is not None else "")
    head = f"--{BOUNDARY}\r\nContent-Disposition: {disposition}\r\n" + (f"Content-Type: {kind}\r\n" if kind else "")
    return head.encode() + b"\r\n" + content + b"\r\n"


END = f"--{BOUNDARY}--\r\n".encode()


async def in_pieces(content: bytes, size: int) -> AsyncIterator[bytes]:
    """Send without a declared length."""
    for start in range(0, len(content), size):
        yield content[start : start + size]


def kept(fluxx: House) -> list[Path]:
    """Every file in the blob folder, half-written ones too."""
    return [path for path in (fluxx.world.settings.fluxx_home / "blobs").rglob("*") if path.is_file()]


async def test_an_upload_is_stored_recorded_and_announced(fluxx: House) -> None:
    client = await fluxx.client_application()
    content = bytes(range(256)) * 3000
    answer = await fluxx.http.post(
        "/files",
        params={"clientApplicationId": str(client)},
        files={"file": ("Rechnung №7.pdf", content, "application/pdf")},
    )
    assert answer.status_code == 202
    file_id = UUID(answer.json()["fileId"])
    [told] = await fluxx.heard.wait_for(FILE_UPLOADED, file_id=file_id)
    assert told["size"] == len(content)

    details = (await fluxx.http.get(f"/files/{file_id}")).json()
    assert details == {
        "fileId": str(file_id),
        "clientApplicationId": str(client),
        "fileName": "Rechnung №7.pdf",
        "contentType": "application/pdf",
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "createdAt": details["createdAt"],
        "jobs": f"/extractor/job/file/{file_id}",
    }
    home = fluxx.world.settings.fluxx_home
    assert (home / "blobs" / "files" / str(client) / str(file_id) / "content").read_bytes() == content
    settings = fluxx.world.settings
    inbox = fluxx.world.bus.subscription(settings.topic_accepted_file, settings.accepted_file_subscription)
    last = (await inbox.browse(limit=1000))[-1].message
    assert (last.message_id, last.order_key) == (str(file_id), str(file_id))
    assert accepted_file.decode(last.body).client_application_id == client
    assert (await fluxx.http.get(details["jobs"])).json() == {"items": [], "nextCursor": None}


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
async def test_pieces_of_any_size_make_the_same_file(fluxx: House, size: int) -> None:
    client = await fluxx.client_application()
    content = f"\r\n--{BOUNDARY[:-1]}\r\n--".encode() * 50
    body = part("note", b"before") + part("file", content, file_name="a.txt") + part("note", b"after") + END
    answer = await fluxx.http.post(
        "/files", params={"clientApplicationId": str(client)}, content=in_pieces(body, size), headers=FORM
    )
    assert answer.status_code == 202, answer.text
    file = await fluxx.world.files.file(UUID(answer.json()["fileId"]))
    assert file.sha256 == hashlib.sha256(content).hexdigest()


async def test_an_empty_file_is_a_file(fluxx: House) -> None:
    file = await fluxx.world.files.file(await fluxx.upload(await fluxx.client_application(), b""))
    assert (file.size, file.sha256) == (0, hashlib.sha256(b"").hexdigest())


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("../../etc/passwd", "../../etc/passwd"),
        ("C:\\\\temp\\\\scan.pdf", "scan.pdf"),
        ("a\tb\x7f.pdf", "a b .pdf"),
        ("", "unnamed"),
        ("n" * 500 + ".pdf", "n" * 396 + ".pdf"),
    ],
)
async def test_a_file_name_is_data_and_no_path_comes_from_it(fluxx: House, given: str, shown: str) -> None:
    client = await fluxx.client_application()
    answer = await fluxx.http.post(
        "/files",
        params={"clientApplicationId": str(client)},
        content=part("file", b"x", file_name=given) + END,
        headers=FORM,
    )
    file = await fluxx.world.files.file(UUID(answer.json()["fileId"]))
    assert file.file_name == shown
    assert file.blob_path == f"files/{client}/{file.file_id}/content"


@pytest.mark.parametrize(
    ("given", "kept_as"),
    [
        ("text/html; charset=utf-8", "text/html; charset=utf-8"),
        ("nonsense", "application/octet-stream"),
        ("text/" + "x" * 300, "application/octet-stream"),
        (None, "application/octet-stream"),
    ],
)
async def test_a_content_type_is_kept_where_it_is_one(fluxx: House, given: str | None, kept_as: str) -> None:
    client = await fluxx.client_application()
    answer = await fluxx.http.post(
        "/files",
        params={"clientApplicationId": str(client)},
        content=part("file", b"x", file_name="a", kind=given) + END,
        headers=FORM,
    )
    assert (await fluxx.world.files.file(UUID(answer.json()["fileId"]))).content_type == kept_as


@pytest.mark.parametrize(
    ("content_type", "body", "status", "field"),
    [
        (FORM["content-type"], END, 400, "file"),
        (FORM["content-type"], part("other", b"x") + END, 400, "file"),
        (FORM["content-type"], part("file", b"x") + part("file", b"y") + END, 422, "file"),
        (FORM["content-type"], part("file", b"cut off"), 400, "body"),
        (FORM["content-type"], part("other", b"cut off"), 400, None),
        (FORM["content-type"], b"", 400, None),
        (FORM["content-type"], b"not a form at all", 400, "body"),
        (FORM["content-type"], b"--the-boundary\r\n" + b"X: y\r\n" * 100 + b"\r\n\r\n" + END, 400, "body"),
        (FORM["content-type"], b"--the-boundary\r\nX: " + b"y" * 10_000 + b"\r\n\r\n\r\n" + END, 400, "body"),
        ("multipart/form-data", part("file", b"x") + END, 400, "Content-Type"),
        ("multipart/form-data; boundary=" + "b" * 3000, b"x", 400, "body"),
        ("application/pdf", b"%PDF", 415, None),
        ("application/x-www-form-urlencoded", b"file=x", 415, None),
        ("", b"x", 415, None),
    ],
)
async def test_a_body_that_brings_no_file_is_refused_and_nothing_stays(
    fluxx: House, content_type: str, body: bytes, status: int, field: str | None
) -> None:
    client = await fluxx.client_application()
    before = kept(fluxx)
    answer = await fluxx.http.post(
        "/files",
        params={"clientApplicationId": str(client)},
        content=body,
        headers={"content-type": content_type},
    )
    problem_of(answer, status, field=field)
    assert kept(fluxx) == before


async def test_a_file_beyond_the_limit_is_refused_declared_or_not(fluxx: House) -> None:
    client = await fluxx.client_application()
    before = kept(fluxx)
    for size in (1_000_001, 3_000_000):
        body = part("file", b"x" * size, file_name="large") + END
        for content in (body, in_pieces(body, 50_000)):
            answer = await fluxx.http.post(
                "/files", params={"clientApplicationId": str(client)}, content=content, headers=FORM
            )
            assert "MAX_UPLOAD_BYTES" in problem_of(answer, 413)["detail"]
    assert kept(fluxx) == before
    await fluxx.upload(client, b"x" * 1_000_000)


async def test_large_fields_beside_the_file_are_refused(fluxx: House) -> None:
    client = await fluxx.client_application()
    note = part("note", b"x" * 1_100_000)
    for body in (note + part("file", b"x") + END, part("file", b"x") + note + END):
        answer = await fluxx.http.post(
            "/files", params={"clientApplicationId": str(client)}, content=in_pieces(body, 60_000), headers=FORM
        )
        problem_of(answer, 413)


async def test_an_unknown_client_application_uploads_nothing(fluxx: House) -> None:
    before = kept(fluxx)
    for client, status, field in ((str(uuid4()), 404, None), ("seven", 400, "clientApplicationId")):
        answer = await fluxx.http.post("/files", params={"clientApplicationId": client}, files={"file": b"x"})
        problem_of(answer, status, field=field)
    problem_of(await fluxx.http.post("/files", files={"file": b"x"}), 400, field="clientApplicationId")
    assert kept(fluxx) == before


async def test_a_client_that_goes_away_leaves_nothing_behind(fluxx: House) -> None:
    client = await fluxx.client_application()
    before = kept(fluxx)
    failures = len(fluxx.heard.of(REQUEST_FAILED))
    reader, writer = await asyncio.open_connection("127.0.0.1", int(str(fluxx.service.url).rpartition(":")[2]))
    writer.write(
        f"POST /files?clientApplicationId={client} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 900000\r\n"
        f"Content-Type: {FORM['content-type']}\r\nExpect: 100-continue\r\n\r\n".encode()
    )
    assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    writer.write(part("file", b"x" * 100_000)[:-2])
    await writer.drain()
    writer.close()
    # The next request on the same loop is answered once the first one's end was seen.
    await fluxx.upload(client)
    assert len(kept(fluxx)) == len(before) + 1
    assert len(fluxx.heard.of(REQUEST_FAILED)) == failures


async def test_an_unknown_file_is_not_found(fluxx: House) -> None:
    problem_of(await fluxx.http.get(f"/files/{uuid4()}"), 404)
    problem_of(await fluxx.http.get("/files/seven"), 400, field="fileId")


async def test_uploads_go_on_side_by_side(tmp_path: Path) -> None:
    async with house(tmp_path, roles=frozenset({"files"})) as fluxx:
        client = await fluxx.client_application()
        ids = await asyncio.gather(*(fluxx.upload(client, b"%d" % n) for n in range(50)))
        assert len(set(ids)) == 50
        files = await fluxx.world.files.files(ids)
        assert [files[one].sha256 for one in ids] == [hashlib.sha256(b"%d" % n).hexdigest() for n in range(50)]
