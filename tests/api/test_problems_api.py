"""Every error is a problem; what went wrong inside is told as a fact and not to the caller."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from msgspec.structs import replace

from fluxx.api.access.roles import NEEDS
from fluxx.api.app import create_app
from fluxx.api.server import HttpServer
from fluxx.errors import Misconfigured, Unavailable
from fluxx.model.job import Job
from fluxx.model.outcome import Extracted, Submitted
from fluxx.ports.blobs import Opened
from fluxx.running import api_context
from fluxx.telemetry import REQUEST_FAILED, REQUEST_UNAVAILABLE
from support.placed_jobs import placed_job
from support.problems import problem_of
from support.service import House, house
from support.serving import serving

pytestmark = pytest.mark.asyncio(loop_scope="module")

INTERNALS = "db-7.internal: password=made-up"


class BrokenReader:
    """Reads jobs from nowhere."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def job_with_history(self, *_: object) -> Job:
        raise self._error


def broken(fluxx: House, error: Exception) -> httpx.AsyncClient:
    """A client of the same API, its job reader broken."""
    context = replace(api_context(fluxx.world), reader=BrokenReader(error))
    return httpx.AsyncClient(transport=httpx.ASGITransport(create_app(context)), base_url="http://localhost")


async def test_an_unknown_route_is_a_problem(fluxx: House) -> None:
    for path in ("/nothing", "/extractor/jobs/", "/files/", "/docs/assets/nothing.js", "/%ff", "/{path}"):
        problem_of(await fluxx.http.get(path), 404)


async def test_a_method_that_is_not_taken_is_a_problem_that_names_those_that_are(fluxx: House) -> None:
    for method, path, allowed in (
        ("PUT", "/files", "POST"),
        ("DELETE", "/extractor/jobs", "GET"),
        ("POST", "/healthz", "GET"),
        ("PUT", f"/registration/{uuid4()}/extractors/{uuid4()}", "GET"),
    ):
        answer = await fluxx.http.request(method, path)
        problem_of(answer, 405)
        assert allowed in answer.headers["allow"]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None])
async def test_a_body_that_is_not_sent_as_json_is_refused_in_words_that_help(fluxx: House, kind: str | None) -> None:
    client = await fluxx.client_application()
    extractor = await fluxx.extractor(client, "https://127.0.0.1/x")
    own = f"/registration/{client}/extractors"
    for method, path in (
        ("POST", "/registration/client-applications"),
        ("POST", own),
        ("PATCH", f"{own}/{extractor.client_application_extractor_id}"),
    ):
        headers = {} if kind is None else {"content-type": kind}
        answer = await fluxx.http.request(method, path, content=b'{"name": "x"}', headers=headers)
        assert "Content-Type must be application/json" in problem_of(answer, 415)["detail"]
    sent = await fluxx.http.post(
        "/registration/client-applications",
        content=b'{"name": "x"}',
        headers={"content-type": "Application/VND.x+JSON; charset=utf-8"},
    )
    assert sent.status_code == 201


async def test_head_asks_wherever_get_does(fluxx: House) -> None:
    paths = [path for method, path in NEEDS if method == "GET" and "{" not in path]
    assert len(paths) > 5
    for path in [*paths, f"/extractor/job/{uuid4()}"]:
        head = await fluxx.http.head(path)
        async with fluxx.http.stream("GET", path) as whole:  # one of them has no end
            assert (head.status_code, head.content) == (whole.status_code, b""), path
            assert head.headers["content-type"] == whole.headers["content-type"]


async def test_what_goes_wrong_inside_stays_inside(fluxx: House) -> None:
    for error in (RuntimeError(INTERNALS), Misconfigured(INTERNALS), KeyError(INTERNALS)):
        before = len(fluxx.heard.of(REQUEST_FAILED))
        async with broken(fluxx, error) as http:
            answer = await http.get(f"/extractor/job/{uuid4()}")
        problem_of(answer, 500)
        assert INTERNALS not in answer.text
        assert [told["error"] for told in fluxx.heard.of(REQUEST_FAILED)[before:]] == [error]


async def test_a_part_that_is_away_is_a_503_that_says_when_to_come_back(fluxx: House) -> None:
    error = Unavailable(INTERNALS)
    async with broken(fluxx, error) as http:
        answer = await http.get(f"/extractor/job/{uuid4()}")
    problem_of(answer, 503)
    assert int(answer.headers["retry-after"]) > 0
    assert INTERNALS not in answer.text
    assert fluxx.heard.of(REQUEST_UNAVAILABLE)[-1]["error"] is error


class BreakingBlobs:
    """Gives the beginning of a blob and then fails."""

    @asynccontextmanager
    async def open(self, *_: object, **__: object) -> AsyncIterator[Opened]:
        async def chunks() -> AsyncIterator[bytes]:
            yield b"the beginning"
            raise OSError(INTERNALS)

        yield Opened(100, chunks())


async def test_an_answer_that_breaks_off_is_cut_off_and_never_looks_whole(tmp_path: Path) -> None:
    async with house(tmp_path, roles=frozenset({"files"})) as fluxx:
        client = await fluxx.client_application()
        extractor = await fluxx.extractor(client, "https://ocr.example.com/")
        outcomes = [Submitted("Taken (201)."), Extracted("results/x", 100, "00")]
        job = await placed_job(fluxx.world, await fluxx.upload(client), extractor, outcomes)
        context = replace(api_context(fluxx.world), blobs=BreakingBlobs())
        async with serving(HttpServer(create_app(context), host="127.0.0.1", port=0)) as http:
            with pytest.raises(httpx.RemoteProtocolError):
                await http.get(f"/extractor/job/{job.job_id}/result")
        assert "OSError" in repr(fluxx.heard.of(REQUEST_FAILED)[-1]["error"])
