"""A caller that is bound to a client application finds nothing of others: not even that it exists."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import httpx
import msgspec
import pytest
import pytest_asyncio

from fluxx.api.access.callers import Role
from fluxx.model.outcome import Extracted, Submitted
from support.access import known, setting
from support.issuer import AUDIENCE, Issuer
from support.placed_jobs import placed_job
from support.service import House, house

pytestmark = pytest.mark.asyncio(loop_scope="module")

OURS = UUID("01990b6e-2f3c-7d41-9a55-0c2c8f6e1b7a")
ADMIN = known(Role.ADMIN)


class Things(msgspec.Struct, frozen=True):
    """One of everything that belongs to a client application, and how a caller bound to it calls."""

    client: UUID
    extractor: UUID
    file: UUID
    job: UUID
    headers: dict[str, str]


class Scene(msgspec.Struct, frozen=True):
    """Two client applications with their things."""

    http: httpx.AsyncClient
    ours: Things
    theirs: Things


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scene(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    home = tmp_path_factory.mktemp("home")
    async with Issuer() as issuer, house(home, roles=frozenset({"registration"})) as fluxx:
        clients = [await fluxx.client_application(name) for name in ("Ours", "Theirs")]
        keys = [known(Role.ADMIN, client=client, name=f"admin-{n}") for n, client in enumerate(clients)]
        issuer.add_rsa()
        async with house(
            home,
            roles=frozenset({"registration", "files", "jobs"}),
            api_keys=setting(ADMIN, *keys),
            auth_issuer=issuer.url,
            auth_audience=AUDIENCE,
            auth_client_application_claim="client",
        ) as guarded:
            token = issuer.token(roles=["admin"], client=str(clients[0]))
            ours = await things(guarded, clients[0], {"Authorization": f"Bearer {token}"})
            yield Scene(guarded.http, ours, await things(guarded, clients[1], keys[1].headers))


async def things(fluxx: House, client: UUID, headers: dict[str, str]) -> Things:
    extractor = await fluxx.extractor(client, "https://ocr.example.com/")
    answer = await fluxx.http.post(
        "/files", params={"clientApplicationId": str(client)}, files={"file": ("a.pdf", b"%PDF")}, headers=headers
    )
    file_id = UUID(answer.json()["fileId"])
    job = await placed_job(fluxx.world, file_id, extractor, [Submitted("Taken.")])
    await fluxx.world.blobs.write(job.result_path, b"{}", content_type="application/json")
    done = await placed_job(
        fluxx.world, file_id, extractor, [Submitted("Taken."), Extracted(job.result_path, 2, "00" * 32, polled=True)]
    )
    return Things(client, extractor.client_application_extractor_id, file_id, done.job_id, headers)


def requests(things: Things, *, registered_by: UUID) -> dict[str, tuple[str, str, dict[str, Any]]]:
    registration = f"/registration/{registered_by}/extractors"
    new = {"name": "ocr", "extractionUrl": "https://ocr.example.com/"}
    form = {"params": {"clientApplicationId": str(registered_by)}, "files": {"file": ("a.pdf", b"%PDF")}}
    return {
        "extractors": ("GET", registration, {}),
        "new extractor": ("POST", registration, {"json": new}),
        "extractor": ("GET", f"{registration}/{things.extractor}", {}),
        "changed extractor": ("PATCH", f"{registration}/{things.extractor}", {"json": {"name": "x"}}),
        "deactivated extractor": ("DELETE", f"{registration}/{things.extractor}", {}),
        "upload": ("POST", "/files", form),
        "file": ("GET", f"/files/{things.file}", {}),
        "jobs of file": ("GET", f"/extractor/job/file/{things.file}", {}),
        "job": ("GET", f"/extractor/job/{things.job}", {}),
        "result": ("GET", f"/extractor/job/{things.job}/result", {}),
        "retry": ("POST", f"/extractor/job/{things.job}/retry", {}),
        "cancel": ("POST", f"/extractor/job/{things.job}/cancel", {}),
    }


NAMES = tuple(requests(Things(OURS, OURS, OURS, OURS, {}), registered_by=OURS))


@pytest.mark.parametrize("name", NAMES)
async def test_ones_own_is_found(scene: Scene, name: str) -> None:
    method, path, options = requests(scene.ours, registered_by=scene.ours.client)[name]
    answer = await scene.http.request(method, path, headers=scene.ours.headers, **options)
    assert answer.status_code in ((409,) if name == "cancel" else (200, 201, 202, 204)), answer.text


@pytest.mark.parametrize("name", NAMES)
async def test_anothers_is_told_in_the_very_words_for_what_does_not_exist(scene: Scene, name: str) -> None:
    missing = Things(uuid4(), uuid4(), uuid4(), uuid4(), {})
    told = []
    for things in (scene.theirs, missing):
        method, path, options = requests(things, registered_by=things.client)[name]
        answer = await scene.http.request(method, path, headers=scene.ours.headers, **options)
        assert answer.status_code == 404
        text = answer.text
        for its_id in (things.client, things.extractor, things.file, things.job):
            text = text.replace(str(its_id), "ID")
        told.append((text, {name for name in answer.headers if name != "date"}))
    assert told[0] == told[1]


@pytest.mark.parametrize("name", ["extractor", "changed extractor", "deactivated extractor"])
async def test_anothers_extractor_is_not_found_under_ones_own_client_either(scene: Scene, name: str) -> None:
    told = []
    for extractor in (scene.theirs.extractor, uuid4()):
        things = Things(scene.ours.client, extractor, uuid4(), uuid4(), {})
        method, path, options = requests(things, registered_by=scene.ours.client)[name]
        answer = await scene.http.request(method, path, headers=scene.ours.headers, **options)
        assert answer.status_code == 404
        told.append(answer.text.replace(str(extractor), "ID"))
    assert told[0] == told[1]


async def test_lists_hold_ones_own_only(scene: Scene) -> None:
    ours, theirs, http = scene.ours, scene.theirs, scene.http
    everything = (await http.get("/extractor/jobs", headers=ADMIN.headers)).json()["items"]
    assert {job["fileId"] for job in everything} == {str(ours.file), str(theirs.file)}
    mine = (await http.get("/extractor/jobs", headers=ours.headers)).json()["items"]
    assert {job["fileId"] for job in mine} == {str(ours.file)}
    clients = (await http.get("/registration/client-applications", headers=ours.headers)).json()
    assert [one["clientApplicationId"] for one in clients] == [str(ours.client)]


@pytest.mark.parametrize("name", ["clientApplicationId", "clientApplicationExtractorId"])
async def test_filters_lead_to_nothing_of_others(scene: Scene, name: str) -> None:
    value = scene.theirs.client if name == "clientApplicationId" else scene.theirs.extractor
    answer = await scene.http.get("/extractor/jobs", params={name: str(value)}, headers=scene.ours.headers)
    assert answer.json() == {"items": [], "nextCursor": None}
    seen = await scene.http.get("/extractor/jobs", params={name: str(value)}, headers=scene.theirs.headers)
    assert seen.json()["items"]


async def test_pages_of_a_bound_caller_go_through_all_of_its_own(scene: Scene) -> None:
    seen: list[str] = []
    cursor = None
    while True:
        params = {"limit": "1"} | ({"cursor": cursor} if cursor else {})
        page = (await scene.http.get("/extractor/jobs", params=params, headers=scene.theirs.headers)).json()
        seen += [job["jobId"] for job in page["items"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) >= 2


async def test_what_is_about_the_whole_is_not_for_one(scene: Scene) -> None:
    assert (await scene.http.get("/metrics", headers=scene.ours.headers)).status_code == 403
    new = await scene.http.post("/registration/client-applications", json={"name": "x"}, headers=scene.ours.headers)
    assert new.status_code == 403
    assert (await scene.http.get("/metrics", headers=ADMIN.headers)).status_code == 200
