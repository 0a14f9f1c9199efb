"""The pages over HTTP, without a script: read, filtered, acted on, and only for those who may."""

import os
import re
import socket
from collections.abc import AsyncIterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import pytest

from fluxx.api.access.callers import Role
from fluxx.api.access.roles import PAGE_NEEDS
from fluxx.dashboard.bulk import STEP
from fluxx.dashboard.site import ELSEWHERE
from fluxx.model.job import Extractor, Job
from fluxx.model.outcome import Extracted, NotReady, Outcome, Refused, Submitted
from fluxx.roles import Roles
from fluxx.telemetry import SERVICE_STOPPED
from support.access import known, setting
from support.eventually import eventually
from support.facts import BOUND
from support.placed_jobs import placed_job
from support.service import House, house

SIGN_OUT = "/dashboard/sign-out"
"""Its form has no fields, and isn't read."""
SERVING = frozenset({"registration", "files", "jobs"})


class Site:
    """A service without a worker, with a client application and an extractor."""

    def __init__(self, fluxx: House, client: UUID, extractor: Extractor) -> None:
        self.fluxx, self.client, self.extractor = fluxx, client, extractor

    async def job(self, *outcomes: Outcome, name: str = "invoice.pdf", extractor: Extractor | None = None) -> Job:
        file_id = await self.fluxx.upload(self.client, name=name)
        return await placed_job(self.fluxx.world, file_id, extractor or self.extractor, outcomes)

    async def extracted(self, body: bytes, *, file_id: UUID | None = None, extractor: Extractor | None = None) -> Job:
        """A job with a result."""
        file_id = file_id or await self.fluxx.upload(self.client)
        path = f"results/{uuid4()}/result.json"
        stored = await self.fluxx.world.blobs.write(path, body, content_type="application/json")
        outcome = Extracted(path, stored.size, stored.sha256)
        return await placed_job(
            self.fluxx.world, file_id, extractor or self.extractor, [Submitted("HTTP 201"), outcome]
        )

    async def page(self, path: str, expected: int = 200, **query: str) -> str:
        answer = await self.fluxx.http.get(path, params=query or None)
        assert answer.status_code == expected, answer.text
        assert answer.headers["content-type"].startswith("text/html")
        return re.sub(r"\s+", " ", unescape(answer.text))

    async def send(self, path: str, status: int = 303, **fields: object) -> httpx.Response:
        own = {"origin": str(self.fluxx.service.url)}
        answer = await self.fluxx.http.post(path, data=fields, headers=own)
        assert answer.status_code == status, answer.text
        return answer


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with house(tmp_path, roles=SERVING) as fluxx:
        client = await fluxx.client_application()
        yield Site(fluxx, client, await fluxx.extractor(client, "https://ocr.example.com/extract", name="ocr <b>"))


async def test_an_empty_service_says_what_to_do(tmp_path: Path) -> None:
    async with house(tmp_path, roles=SERVING) as fluxx:
        empty = Site(fluxx, uuid4(), None)  # type: ignore[arg-type] # there is none
        assert "Add a client application and an extractor" in await empty.page("/dashboard")
        assert "Upload a file" in await empty.page("/dashboard/jobs")
        assert "Begin with a client application" in await empty.page("/dashboard/extractors")
        assert "There is no client application yet" in await empty.page("/dashboard/upload")


async def test_what_is_no_page_is_told_on_a_page(site: Site) -> None:
    for path in ("/dashboard/nosuch", "/dashboard/extractors/a/b", f"/dashboard/job/{uuid4()}"):
        assert "There is no" in await site.page(path, 404)
    assert (await site.send("/dashboard/nosuch", 404)).headers["content-type"].startswith("text/html")


async def test_a_process_offers_only_what_its_roles_have_a_right_to(tmp_path: Path) -> None:
    cases: list[tuple[Roles, bool, bool]] = [
        (frozenset({"jobs"}), False, False),
        (frozenset({"jobs", "files"}), True, False),
        (frozenset({"jobs", "registration"}), False, True),
        (SERVING, True, True),
    ]
    for roles, uploads, registers in cases:
        async with house(tmp_path, roles=roles) as fluxx:
            client = await fluxx.client_application()
            site = Site(fluxx, client, await fluxx.extractor(client, "https://ocr.example.com/extract"))
            assert ('href="/dashboard/upload"' in await site.page("/dashboard")) is uploads
            extractors = await site.page("/dashboard/extractors")
            assert ("Try with a sample file" in extractors) is uploads
            forms = ("Set API key", "Deactivate", "Add an extractor", "Add a client application")
            assert [words in extractors for words in forms] == [registers] * len(forms)
            await site.page("/dashboard/upload", 200 if uploads else 404)
            await site.send("/dashboard/extractors/client", 303 if registers else 404, name="Another")


async def test_the_overview_tells_the_counts_and_what_is_wrong(site: Site) -> None:
    for _ in range(3):
        await site.job(Submitted("ok"), Refused("The extractor refused the poll: HTTP 400."))
    await site.job()
    page = await site.page("/dashboard")
    assert "<span>Failed in 24 h</span><b>3</b>" in page
    assert "<span>Queued now</span><b>1</b>" in page
    assert "ocr <b>: 3 of 3 jobs failed in 15 minutes." in page
    assert "The extractor refused the poll" in page


async def test_the_overview_tells_that_no_worker_is_there(site: Site) -> None:
    page = await site.page("/dashboard")
    assert 'Workers seen</dt><dd><span class="bad">none</span> <span class="muted">start one: fluxx worker' in page


async def test_the_overview_tells_which_workers_are_there_until_they_end(tmp_path: Path) -> None:
    async with house(tmp_path / "one") as fluxx:
        own = f"{socket.gethostname()}:{os.getpid()}"
        await eventually(fluxx.world.presence.workers, bound=BOUND)
        await fluxx.world.presence.sign_in("elsewhere:1", stays=45)
        page = await Site(fluxx, uuid4(), None).page("/dashboard")  # type: ignore[arg-type] # there is none
        for each in (own, "elsewhere:1"):
            assert each in page
        fluxx.service.stop()
        await fluxx.heard.wait_for(SERVICE_STOPPED)
        assert await fluxx.world.presence.workers() == ["elsewhere:1"]


async def test_names_from_outside_are_only_text(site: Site) -> None:
    job = await site.job(Submitted("<script>alert(1)</script>"), name="<img src=x onerror=alert(1)>.pdf")
    for path in ("/dashboard/jobs", f"/dashboard/job/{job.job_id}", f"/dashboard/file/{job.file_id}", "/dashboard"):
        answer = await site.fluxx.http.get(path)
        assert "<script>alert" not in answer.text
        assert "<img src=x" not in answer.text
        assert "ocr <b>" not in answer.text
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        assert _inline(answer.text) == []


async def test_jobs_are_filtered_by_the_address_and_paged_by_keyset(site: Site) -> None:
    first = await site.job(Refused("no"), name="first.pdf")
    for number in range(52):
        await placed_job(site.fluxx.world, first.file_id, site.extractor, [Refused("no")] if number % 2 else [])
    page = await site.page("/dashboard/jobs")
    assert page.count('name="job"') == 50
    older = re.search(r'href="(/dashboard/jobs\?after=[^"]+)" rel="next"', page)
    assert older is not None
    assert (await site.page(older[1])).count('name="job"') == 3
    assert (await site.page("/dashboard/jobs", status="Failed")).count('name="job"') == 27
    assert "No such jobs" in await site.page("/dashboard/jobs", status="Succeeded")
    assert (await site.page("/dashboard/jobs", search="first.pdf", status="Queued")).count('name="job"') == 26
    assert "No such jobs" in await site.page("/dashboard/jobs", until="2020-01-01T00:00")
    assert "client is not an id" in await site.page("/dashboard/jobs", 422, client="nonsense")


async def test_a_search_for_an_id_leads_to_it(site: Site) -> None:
    job = await site.job()
    for wanted, place in ((job.job_id, f"job/{job.job_id}"), (job.file_id, f"file/{job.file_id}")):
        answer = await site.fluxx.http.get("/dashboard/jobs", params={"search": str(wanted)})
        assert (answer.status_code, answer.headers["location"]) == (303, f"/dashboard/{place}")
    assert "No such jobs" in await site.page("/dashboard/jobs", search=str(uuid4()))


async def test_a_job_tells_why_its_limits_and_its_history(site: Site) -> None:
    job = await site.job(Submitted("Submitted: HTTP 201."), NotReady())
    page = await site.page(f"/dashboard/job/{job.job_id}")
    for words in (
        "took the file",
        "1 poll said that it isn't ready",
        "JOB_TIMEOUT_SECONDS",
        "MAX_POLL_ATTEMPTS",
        "JobStarted",
    ):
        assert words in page
    assert "Not Found" in await site.page(f"/dashboard/job/{uuid4()}", 404)
    assert "is not an id" in await site.page("/dashboard/job/nonsense", 422)


async def test_a_result_is_shown_searched_and_compared(site: Site) -> None:
    other = await site.fluxx.extractor(site.client, "https://b.example.com/", name="b")
    left = await site.extracted(b'{"total": 12.50, "lines": [{"text": "Rope & twine"}], "only": 1}')
    right = await site.extracted(b'{"total": 13, "lines": [{"text": "Rope"}]}', file_id=left.file_id, extractor=other)
    page = await site.page(f"/dashboard/job/{left.job_id}")
    assert "12.50" in page
    assert "Rope & twine" in page
    found = await site.page(f"/dashboard/job/{left.job_id}", find="TWINE")
    assert "lines[0].text" in found
    assert "<code>total</code>" not in found
    compared = await site.page(f"/dashboard/file/{left.file_id}", left=str(left.job_id), right=str(right.job_id))
    for words in ("+0.5", "missing", "<code>lines[0].text</code>", "<b>1</b> number differs"):
        assert words in compared


async def test_a_result_that_cannot_be_shown_says_why(site: Site) -> None:
    job = await site.extracted(b"not json at all")
    assert "It is no JSON that can be shown" in await site.page(f"/dashboard/job/{job.job_id}")
    gone = await site.extracted(b"{}")
    await site.fluxx.world.blobs.delete(gone.extractor_response or "")
    assert "gone from the storage" in await site.page(f"/dashboard/job/{gone.job_id}")


async def test_one_job_is_cancelled_and_retried_once_however_often_it_is_pressed(site: Site) -> None:
    job = await site.job()
    for _ in range(2):
        await site.send(f"/dashboard/job/{job.job_id}/cancel")
    assert "Cancelled by an operator." in await site.page(f"/dashboard/job/{job.job_id}")
    places = {(await site.send(f"/dashboard/job/{job.job_id}/retry")).headers["location"] for _ in range(2)}
    assert len(places) == 1
    assert "Its submission is due." in await site.page(places.pop())


async def test_many_jobs_are_retried_step_by_step_and_none_twice(site: Site) -> None:
    file_id = await site.fluxx.upload(site.client)
    count = STEP + 20
    for _ in range(count):
        await placed_job(site.fluxx.world, file_id, site.extractor, [Refused("no")])
    alive = await placed_job(site.fluxx.world, file_id, site.extractor)
    asked = await site.send("/dashboard/bulk", 200, action="retry", which="matching")
    assert f"Retry {count} jobs?" in asked.text
    fields = _fields(asked.text)
    page = await site.send("/dashboard/bulk/step", 200, **fields)
    again = await site.send("/dashboard/bulk/step", 200, **fields)
    assert f"Retried {STEP} of {count} jobs" in page.text
    assert f"Retried {STEP} of {count} jobs" in again.text
    last = await site.send("/dashboard/bulk/step", 200, **_fields(page.text))
    assert f"Retried {count} of {count} jobs" in last.text
    assert "Done." in last.text
    counts = await site.fluxx.world.observer.since_the_beginning()
    assert counts[site.extractor.client_application_extractor_id].queued == 2 * count + 1
    assert (await site.fluxx.world.reader.job(alive.job_id)).status.value == "Queued"


async def test_selected_jobs_are_cancelled_and_the_ended_left_alone(site: Site) -> None:
    jobs = [await site.job(), await site.job(Submitted("ok")), await site.job(Refused("no"))]
    ids = [str(job.job_id) for job in jobs]
    asked = await site.send("/dashboard/bulk", 200, action="cancel", which="selected", job=ids)
    assert "Cancel 2 jobs?" in asked.text
    done = await site.send("/dashboard/bulk/step", 200, **(_fields(asked.text) | {"job": ids}))
    assert "Cancelled 2 of 2 jobs" in done.text
    states = [(await site.fluxx.world.reader.job(job.job_id)).status_message for job in jobs]
    assert states == ["Cancelled by an operator."] * 2 + ["no"]
    assert "No job was selected" in (await site.send("/dashboard/bulk", 200, action="cancel", which="selected")).text
    await site.send("/dashboard/bulk", 422, action="delete")


async def test_extractors_are_added_changed_and_given_a_key_that_is_not_shown(site: Site) -> None:
    made = await site.send("/dashboard/extractors/client", name="Archive")
    client = made.headers["location"].partition("client-")[2]
    fields = {"client": client, "name": "docs", "url": "https://docs.example.com/", "key": "s3cr3t-key"}
    added = await site.send("/dashboard/extractors/add", **fields)
    extractor_id = UUID(added.headers["location"].partition("extractor-")[2])
    await site.send(f"/dashboard/extractors/{extractor_id}/key", key="an0ther-key")
    assert (await site.fluxx.world.secrets.api_key(extractor_id, fresh=True)).reveal() == "an0ther-key"
    await site.send(f"/dashboard/extractors/{extractor_id}/change", active="false")
    assert not (await site.fluxx.world.registrations.extractor(extractor_id)).is_active
    page = await site.page("/dashboard/extractors")
    assert "docs.example.com" in page
    assert not {"s3cr3t-key", "an0ther-key"} & set(re.findall(r"[\w-]+", page))
    refused = await site.send("/dashboard/extractors/add", 422, **(fields | {"url": "ftp://x", "key": "s3cr3t-key"}))
    assert 'role="alert"' in refused.text
    assert "s3cr3t-key" not in refused.text


async def test_files_are_uploaded_through_the_form(site: Site) -> None:
    own = {"origin": str(site.fluxx.service.url)}
    files = [("file", ("a.pdf", b"%PDF-a", "application/pdf"))]
    answer = await site.fluxx.http.post(
        "/dashboard/upload", data={"client": str(site.client)}, files=files, headers=own
    )
    assert answer.status_code == 303, answer.text
    assert "a.pdf" in await site.page(answer.headers["location"])
    none = await site.fluxx.http.post(
        "/dashboard/upload", data={"client": str(site.client)}, files=[("x", b"")], headers=own
    )
    assert (none.status_code, "Choose a file first" in none.text) == (422, True)
    sample = await site.fluxx.http.post(
        "/dashboard/upload/sample", files=[("client", (None, str(site.client)))], headers=own
    )
    assert sample.status_code == 303, sample.text


@pytest.mark.parametrize(
    "path", [path for method, path in PAGE_NEEDS if method == "POST" and path not in (SIGN_OUT, ELSEWHERE)]
)
async def test_a_form_that_does_not_say_how_long_it_is_is_not_read(site: Site, path: str) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"key=x"

    kind = {"content-type": "application/x-www-form-urlencoded"}
    answer = await site.fluxx.http.post(path, content=pieces(), headers=kind)
    assert (answer.status_code, "The form must say how long it is." in answer.text) == (411, True)


@pytest.mark.parametrize("header", [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}])
async def test_forms_from_elsewhere_are_refused(site: Site, header: dict[str, str]) -> None:
    job = await site.job()
    for path in (f"/dashboard/job/{job.job_id}/cancel", "/dashboard/bulk/step", "/dashboard/extractors/client"):
        answer = await site.fluxx.http.post(path, data={"action": "cancel", "name": "x"}, headers=header)
        assert answer.status_code == 403
    assert not (await site.fluxx.world.reader.job(job.job_id)).status.is_final


async def test_a_key_opens_the_pages_with_its_rights_and_no_more(tmp_path: Path) -> None:
    async with house(tmp_path, roles=SERVING) as fluxx:
        client = await fluxx.client_application()
        extractor = await fluxx.extractor(await fluxx.client_application("Others"), "https://o.example/", name="secret")
        foreign = await placed_job(fluxx.world, await fluxx.upload(extractor.client_application_id), extractor)
    reader, operator = known(Role.READ, client=client), known(Role.OPERATE)
    async with house(tmp_path, roles=SERVING, api_keys=setting(reader, operator)) as fluxx:
        own = {"origin": str(fluxx.service.url)}
        asked = await fluxx.http.get("/dashboard/jobs?status=Failed")
        assert asked.headers["location"] == "/dashboard/sign-in?next=%2Fdashboard%2Fjobs%3Fstatus%3DFailed"
        wrong = await fluxx.http.post("/dashboard/sign-in", data={"key": "wrong"}, headers=own)
        assert (wrong.status_code, "Nobody knows that key" in wrong.text) == (422, True)
        data = {"key": reader.key, "next": "https://evil.example/"}
        signed = await fluxx.http.post("/dashboard/sign-in", data=data, headers=own)
        assert signed.headers["location"] == "/dashboard"
        assert "HttpOnly" in signed.headers["set-cookie"]
        page = await fluxx.http.get("/dashboard/extractors")
        assert page.status_code == 200
        assert "secret" not in page.text
        assert "Add a client application" not in page.text
        assert (await fluxx.http.get(f"/dashboard/job/{foreign.job_id}")).status_code == 404
        assert (await fluxx.http.get(f"/dashboard/file/{foreign.file_id}")).status_code == 404
        cancel = f"/dashboard/job/{foreign.job_id}/cancel"
        assert (await fluxx.http.post(cancel, headers=own)).status_code == 403
        assert (await fluxx.http.get("/extractor/jobs")).status_code == 200
        assert "Workers seen" not in (await fluxx.http.get("/dashboard")).text
        await fluxx.http.post("/dashboard/sign-in", data={"key": operator.key}, headers=own)
        assert (await fluxx.http.post(cancel)).status_code == 401
        assert (await fluxx.http.post(cancel, headers=own)).status_code == 303
        await fluxx.http.post("/dashboard/sign-out", headers=own)
        assert (await fluxx.http.get("/dashboard")).status_code == 303


async def test_every_page_declares_what_it_needs(site: Site) -> None:
    app = site.fluxx.service
    assert app is not None
    for method, path in PAGE_NEEDS:
        place = path.replace("{jobId}", str(uuid4())).replace("{fileId}", str(uuid4()))
        place = place.replace("{extractorId}", str(uuid4())) + ("/style.css" if path.endswith("static") else "")
        answer = await site.fluxx.http.request(method, place, headers={"origin": str(site.fluxx.service.url)})
        assert answer.status_code not in (401, 403, 405, 500), (method, path, answer.text)


class _Inline(HTMLParser):
    """Finds what a strict content policy would refuse: scripts, handlers and styles in the page itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = {name for name, _ in attrs}
        if tag == "style" or (tag == "script" and "src" not in names):
            self.found.append(tag)
        self.found += [name for name in names if name == "style" or name.startswith("on")]


def _inline(page: str) -> list[str]:
    parser = _Inline()
    parser.feed(page)
    return parser.found


def _fields(page: str) -> dict[str, str]:
    return {name: unescape(value) for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page)}
