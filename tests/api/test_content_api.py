"""``GET /files/{fileId}/content``: the signed URL that extractors get, with ranges."""

from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from uuid import UUID, uuid4

import httpx
import pytest

from fluxx.clock import SystemClock
from support.facts import BOUND
from support.problems import problem_of
from support.service import House, house

pytestmark = pytest.mark.asyncio(loop_scope="module")

CONTENT = bytes(range(256)) * 40
LIFE = timedelta(minutes=5)


async def signed(fluxx: House, name: str = "invoice.pdf", *, life: timedelta = LIFE, content: bytes = CONTENT) -> str:
    """Upload a file and return its signed URL."""
    file = await fluxx.world.files.file(await fluxx.upload(await fluxx.client_application(), content, name))
    return await fluxx.world.blobs.signed_url(file.blob_path, expires_at=fluxx.world.clock.now() + life)


async def test_a_signed_url_gives_the_bytes_to_anyone(fluxx: House) -> None:
    url = await signed(fluxx)
    async with httpx.AsyncClient(timeout=BOUND) as anyone:
        answer = await anyone.get(url)
    assert answer.status_code == 200
    assert answer.content == CONTENT
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.headers["content-length"] == str(len(CONTENT))
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["accept-ranges"] == "bytes"
    assert answer.headers["content-disposition"].startswith('attachment; filename="invoice.pdf"')


async def test_a_head_tells_everything_but_the_bytes(fluxx: House) -> None:
    url = await signed(fluxx)
    head, whole = await fluxx.http.head(url), await fluxx.http.get(url)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["etag"] == whole.headers["etag"]
    assert head.headers["content-length"] == str(len(CONTENT))


@pytest.mark.parametrize(
    ("name", "disposition"),
    [
        ("Rechnung №7.pdf", "attachment; filename=\"Rechnung _7.pdf\"; filename*=UTF-8''Rechnung%20%E2%84%967.pdf"),
        ("a;b%.pdf", "attachment; filename=\"a;b_.pdf\"; filename*=UTF-8''a%3Bb%25.pdf"),
        ("../x", "attachment; filename=\"../x\"; filename*=UTF-8''..%2Fx"),
    ],
)
async def test_a_file_name_of_any_kind_fits_the_header(fluxx: House, name: str, disposition: str) -> None:
    answer = await fluxx.http.get(await signed(fluxx, name))
    assert answer.headers["content-disposition"] == disposition


async def test_no_other_url_gives_them(fluxx: House) -> None:
    url, other = await signed(fluxx), await signed(fluxx)
    path = urlsplit(url).path
    query = {key: values[0] for key, values in parse_qs(urlsplit(url).query).items()}
    tampered = query["signature"][:-1] + ("0" if query["signature"][-1] != "0" else "1")
    refused = [
        (path, {}),
        (path, {"expires": query["expires"]}),
        (path, {"signature": query["signature"]}),
        (path, query | {"signature": tampered}),
        (path, query | {"signature": query["signature"].upper()}),
        (path, query | {"signature": "ü"}),
        (path, query | {"expires": str(int(query["expires"]) + 1)}),
        (path, query | {"expires": "soon"}),
        (path, query | {"expires": "9" * 400}),
        (path, query | {"expires": "²"}),
        (urlsplit(other).path, query),
        (f"/files/{uuid4()}/content", query),
    ]
    for where, given in refused:
        problem_of(await fluxx.http.get(where, params=given), 403)
    assert (await fluxx.http.get(path, params=query)).status_code == 200


async def test_an_expired_url_gives_nothing(fluxx: House) -> None:
    problem_of(await fluxx.http.get(await signed(fluxx, life=timedelta(seconds=-1))), 403)


@pytest.mark.parametrize(
    ("wanted", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=100-", 100, 10240),
        ("bytes=-5", 10235, 10240),
        ("bytes=10000-999999", 10000, 10240),
        ("bytes=-999999", 0, 10240),
        ("bytes=10239-10239", 10239, 10240),
    ],
)
async def test_a_range_gives_a_part(fluxx: House, wanted: str, start: int, end: int) -> None:
    answer = await fluxx.http.get(await signed(fluxx), headers={"range": wanted})
    assert answer.status_code == 206
    assert answer.content == CONTENT[start:end]
    assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/10240"
    assert answer.headers["content-length"] == str(end - start)


@pytest.mark.parametrize("wanted", ["bytes=10240-", "bytes=-0", "bytes=99999-100000"])
async def test_a_range_beyond_the_end_is_refused(fluxx: House, wanted: str) -> None:
    answer = await fluxx.http.get(await signed(fluxx), headers={"range": wanted})
    problem_of(answer, 416)
    assert answer.headers["content-range"] == "bytes */10240"


@pytest.mark.parametrize("wanted", ["bytes=5-1", "bytes=1-2,4-5", "lines=1-2", "bytes=", "bytes=-", "bytes=a-b", ""])
async def test_a_range_of_another_form_gives_it_whole(fluxx: House, wanted: str) -> None:
    answer = await fluxx.http.get(await signed(fluxx), headers={"range": wanted})
    assert (answer.status_code, answer.content) == (200, CONTENT)


async def test_validators_are_honoured(fluxx: House) -> None:
    url = await signed(fluxx)
    etag = (await fluxx.http.get(url)).headers["etag"]
    for tags in (etag, f'"x", W/{etag}', "*"):
        answer = await fluxx.http.get(url, headers={"if-none-match": tags})
        assert (answer.status_code, answer.content) == (304, b"")
    assert (await fluxx.http.get(url, headers={"if-none-match": '"x"'})).status_code == 200
    part = {"range": "bytes=0-1"}
    assert (await fluxx.http.get(url, headers={"if-range": etag, **part})).status_code == 206
    assert (await fluxx.http.get(url, headers={"if-range": '"x"', **part})).status_code == 200


async def test_an_empty_file_has_no_range(fluxx: House) -> None:
    url = await signed(fluxx, content=b"")
    assert (await fluxx.http.get(url)).content == b""
    problem_of(await fluxx.http.get(url, headers={"range": "bytes=0-"}), 416)


async def test_content_that_is_gone_is_not_found(fluxx: House) -> None:
    url = await signed(fluxx)
    file = await fluxx.world.files.file(UUID(urlsplit(url).path.split("/")[2]))
    await fluxx.world.blobs.delete(file.blob_path)
    problem_of(await fluxx.http.get(url), 404)


async def test_the_address_is_the_public_one_where_it_is_set(tmp_path: Path) -> None:
    public = "https://files.example.com/fluxx/"
    async with house(tmp_path, roles=frozenset({"files"}), public_url=public) as fluxx:
        expires = SystemClock().now() + LIFE
        url = fluxx.world.signer.sign(f"files/{uuid4()}/{uuid4()}/content", expires)
    assert url.startswith("https://files.example.com/fluxx/files/")
