"""Whatever stands in a parameter, a field or a header: the answer says what is wrong with it, and never with a 5xx."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote_from_bytes

import msgspec
import pytest
import pytest_asyncio

from fluxx import dashboard
from fluxx.api.access.callers import Role
from fluxx.api.access.roles import NEEDS, PAGE_NEEDS
from fluxx.api.app import create_app
from fluxx.model.outcome import Extracted, Refused, Submitted
from fluxx.running import api_context
from support.access import known, setting
from support.databases import DIALECTS, Databases
from support.placed_jobs import placed_job
from support.service import House, house

pytestmark = pytest.mark.asyncio(loop_scope="module")

KEY = known(Role.ADMIN)
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=b"
RESULT = b'{"total": 1e999999, "text": "half a pair: \\ud800", "deep": ' + b"[" * 500 + b"]" * 500 + b"}"
OTHER_RESULT = b'{"total": 1e-999999, "text": "another"}'

HOSTILE = (
    b"9" * 5000,
    "\N{ARABIC-INDIC DIGIT THREE}\N{SUPERSCRIPT TWO}".encode(),
    b"a\0b",
    b"\xff\xed\xa0\x80",
    b"0001-01-01T00:00+23:00",
    b"9999-12-31T23:59-23:00",
    b"2026-03-01",
    b"f///////////////////////////////",
    b"gAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    b"ffffffff-ffff-ffff-ffff-ffffffffffff",
    b"x" * 401,
    b"../../%00'\";--<b>{{7*7}}{jobId}\\",
    b"http://[",
    b"\r\nX: y",
)
IN_HEADERS = [value for value in HOSTILE if not set(value) & set(b"\0\r\n")]
HEADERS = (
    "host",
    "origin",
    "sec-fetch-site",
    "cookie",
    "authorization",
    "x-api-key",
    "range",
    "if-none-match",
    "traceparent",
)
TYPES = (
    *(f"{MULTIPART}; charset={name}" for name in ("undefined", "punycode", "raw_unicode_escape", "utf-7", "x" * 5000)),
    "multipart/form-data",
    "multipart/form-data; boundary=" + "b" * 5000,
    "multipart/form-data; boundary*=utf-8''%ff",
    f"{FORM}; charset=undefined",
)
FILTERS = ("status", "client", "extractor", "file", "since", "until", "search")
BULK = ("action", "which", "total", "done", "passed", "after", "before", "job", *FILTERS)
PAGES: Mapping[tuple[str, str], Sequence[str]] = dict.fromkeys(PAGE_NEEDS, ()) | {
    ("GET", "/dashboard"): ("hours",),
    ("GET", "/dashboard/sign-in"): ("next",),
    ("POST", "/dashboard/sign-in"): ("key", "next"),
    ("GET", "/dashboard/jobs"): (*FILTERS, "after"),
    ("GET", "/dashboard/job/{jobId}"): ("find", "problem"),
    ("GET", "/dashboard/file/{fileId}"): ("left", "right"),
    ("POST", "/dashboard/bulk"): BULK,
    ("POST", "/dashboard/bulk/step"): BULK,
    ("GET", "/dashboard/upload"): ("client",),
    ("POST", "/dashboard/upload"): ("client", "file"),
    ("POST", "/dashboard/upload/sample"): ("client",),
    ("GET", "/dashboard/extractors"): ("done",),
    ("POST", "/dashboard/extractors/client"): ("name",),
    ("POST", "/dashboard/extractors/add"): ("client", "name", "url", "polling", "key"),
    ("POST", "/dashboard/extractors/{extractorId}/change"): ("active",),
    ("POST", "/dashboard/extractors/{extractorId}/key"): ("key",),
}
"""What each page reads of an address or a form, beside the ids in its path."""

SENSE = {
    "job": "",
    "action": "retry",
    "which": "matching",
    "total": "1",
    "name": "OCR",
    "url": "https://ocr.example.com/",
    "extractionUrl": "https://ocr.example.com/",
}
"""Values with which a form or a body gets as far as to its hostile one; no job is selected, so the filters count."""


Request: TypeAlias = tuple[str, str, dict[str, Any]]
"""Method, path, and what else is sent."""


class Scene(msgspec.Struct, frozen=True):
    """A guarded service with something of everything in it, and the ids of that by the names of the parameters."""

    house: House
    ids: dict[str, str]
    parameters: dict[tuple[str, str], list[tuple[str, str]]]

    async def status(self, method: str, path: str, **options: Any) -> int:
        """The status of the answer; of one without end only its beginning is read."""
        options["headers"] = KEY.headers | options.get("headers", {})
        async with self.house.http.stream(method, path, **options) as answer:
            kind = answer.headers.get("content-type", "")
            if not kind.startswith("text/event-stream"):
                await answer.aread()
            if answer.is_client_error and not path.startswith("/dashboard"):
                assert kind == "application/problem+json"
            return answer.status_code

    def place(self, path: str, name: str = "", value: bytes = b"") -> str:
        """The path, hostile in one of its parts or in none."""
        path = path.replace(":path", "")
        parts = {each: self.ids.get(each, "nowhere") for each in re.findall(r"{(\w+)}", path)}
        parts |= {name: quote_from_bytes(value, safe="")} if name in parts else {}
        return path.format(**parts) + ("/style.css" if path.endswith("static") else "")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=DIALECTS)
async def scene(
    request: pytest.FixtureRequest, databases: Databases, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Scene]:
    home = tmp_path_factory.mktemp("home")
    roles = frozenset({"registration", "files", "jobs"})
    options = {"api_keys": setting(KEY), "rate_limit_per_second": 100_000}
    with databases.of(request.param, home) as url:
        async with house(home, database_url=url, roles=roles, **options) as fluxx:
            fluxx.http.headers.update(KEY.headers)
            yield await filled(fluxx)


async def filled(fluxx: House) -> Scene:
    client = await fluxx.client_application()
    extractor = await fluxx.extractor(client, "https://ocr.example.com/")
    file_id = await fluxx.upload(client)
    jobs = [await placed_job(fluxx.world, file_id, extractor, [Submitted("Taken."), Refused("No.")])]
    for number, body in enumerate((RESULT, OTHER_RESULT)):
        stored = await fluxx.world.blobs.write(f"results/{number}", body, content_type="application/json")
        outcomes = [Submitted("Taken."), Extracted(f"results/{number}", stored.size, stored.sha256)]
        jobs.append(await placed_job(fluxx.world, file_id, extractor, outcomes))
    ids = {
        **dict.fromkeys(("clientAppId", "clientApplicationId", "client"), client),
        **dict.fromkeys(("fileId", "file"), file_id),
        **dict.fromkeys(("jobId", "job", "left"), jobs[1].job_id),
        **dict.fromkeys(("right", "after"), jobs[2].job_id),
        **dict.fromkeys(
            ("extractorId", "clientApplicationExtractorId", "extractor"), extractor.client_application_extractor_id
        ),
    }
    return Scene(fluxx, {name: str(value) for name, value in ids.items()}, parameters_of(fluxx))


def parameters_of(fluxx: House) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Where each operation of the APIs has a parameter (path, query, header, body), and its name."""
    document = create_app(api_context(fluxx.world)).openapi()
    found = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            named = [(each["in"], each["name"]) for each in operation.get("parameters", ())]
            body = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if body:
                schema = document["components"]["schemas"][body["schema"]["$ref"].rpartition("/")[2]]
                named += [("body", name) for name in schema["properties"]]
            found[method.upper(), path] = named
    return found


def requests_to(scene: Scene, method: str, path: str) -> Iterator[Request]:
    """Each request with one hostile value in it."""
    if (method, path) in PAGES:
        named = [("path", name) for name in re.findall(r"{(\w+)}", path)]
        named += [("query" if method == "GET" else "form", name) for name in PAGES[method, path]]
    else:
        named = scene.parameters.get((method, path), [])
    given = {name: SENSE.get(name, scene.ids.get(name, "")) for place, name in named if place in ("form", "body")}
    given = {name: sense for name, sense in given.items() if sense}
    for where, name in named:
        for value in HOSTILE:
            text = value.decode(errors="surrogateescape")
            query = f"{name}={quote_from_bytes(value)}"
            match where:
                case "path":
                    yield method, scene.place(path, name, value), {}
                case "query":
                    yield method, f"{scene.place(path)}?{query}", {}
                case "form":
                    rest = "&".join(f"{each}={sense}" for each, sense in given.items() if each != name)
                    yield method, scene.place(path), {"content": f"{query}&{rest}", "headers": {"content-type": FORM}}
                case "body":
                    yield method, scene.place(path), {"content": json.dumps(given | {name: text})}
                case "header" if value in IN_HEADERS:
                    yield method, scene.place(path), {"headers": {name: value}}


async def faults(scene: Scene, requests: Iterable[Request]) -> list[Request]:
    """Those of the requests that are answered with a 5xx."""
    several = asyncio.Semaphore(8)

    async def is_fault(request: Request) -> bool:
        method, place, options = request
        async with several:
            return await scene.status(method, place, **options) >= 500

    sent = [*requests]
    answers = await asyncio.gather(*map(is_fault, sent))
    return [request for request, fault in zip(sent, answers, strict=True) if fault]


@pytest.mark.parametrize(("method", "path"), [*NEEDS, *PAGE_NEEDS])
async def test_no_value_of_a_parameter_is_our_fault(scene: Scene, method: str, path: str) -> None:
    assert await faults(scene, requests_to(scene, method, path)) == []


@pytest.mark.parametrize("header", HEADERS)
async def test_no_header_is_our_fault(scene: Scene, header: str) -> None:
    asked = [("GET", "/dashboard/jobs"), ("GET", "/extractor/job/{jobId}/result"), ("POST", "/dashboard/sign-out")]
    values = (*IN_HEADERS, b"fluxx-key=\xff", b"Bearer a.b.c", b"bytes=" + IN_HEADERS[0] + b"-")
    requests = [(method, scene.place(path), {"headers": {header: value}}) for method, path in asked for value in values]
    assert await faults(scene, requests) == []


@pytest.mark.parametrize(
    "path",
    [
        "/files?clientApplicationId={client}",
        "/dashboard/upload",
        "/dashboard/sign-in",
        "/registration/client-applications",
    ],
)
async def test_no_form_is_our_fault(scene: Scene, path: str) -> None:
    kinds = [(form(value), MULTIPART) for value in IN_HEADERS] + [(form(b"x"), kind) for kind in (*TYPES, *IN_HEADERS)]
    requests = [
        ("POST", scene.place(path), {"content": content, "headers": {"content-type": kind}}) for content, kind in kinds
    ]
    assert await faults(scene, requests) == []


def form(value: bytes) -> bytes:
    """A form whose fields, and the name and type of whose file, are hostile."""
    fields = b"".join(
        b'--b\r\nContent-Disposition: form-data; name="%b"\r\n\r\n/dashboard/%b\\ud800\r\n' % (name, value)
        for name in (b"client", b"next", b"key")
    )
    disposition = b'Content-Disposition: form-data; name="file"; filename="%b"\r\n' % value
    return fields + b"--b\r\n%bContent-Type: %b\r\n\r\n%b\r\n--b--\r\n" % (disposition, value, value)


async def test_every_field_of_the_pages_is_among_those() -> None:
    assert read_by_pages() <= {name for names in PAGES.values() for name in names}


def read_by_pages() -> set[str]:
    """The names of all fields in the templates, and of what the code takes from addresses and forms."""
    pages = Path(dashboard.__path__[0])
    source = "".join(path.read_text("utf-8") for path in (*pages.rglob("*.html"), *pages.rglob("*.py")))
    fields = re.findall(r'<(?:input|select|button)[^>]* name="(\w+)"', source)
    read = re.findall(r'(?:query_params\.get|fields\.\w+)\("(\w+)"', source)
    assert fields
    assert read
    return {*fields, *read}
