"""The Registration API: stories 2 and 3, and what it refuses."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from fluxx.errors import SecretMissing
from support.problems import problem_of
from support.service import House

pytestmark = pytest.mark.asyncio(loop_scope="module")

URL = "https://ocr.example.com/extract"
SECRET = "a-key-that-nobody-may-see"


async def registered(fluxx: House, client: UUID, **body: Any) -> dict[str, Any]:
    """Register an extractor over HTTP."""
    answer = await fluxx.http.post(
        f"/registration/{client}/extractors", json={"name": "OCR", "extractionUrl": URL, **body}
    )
    assert answer.status_code == 201, answer.text
    details: dict[str, Any] = answer.json()
    return details


async def test_active_extractors_are_listed_in_the_storys_shape(fluxx: House) -> None:
    client = await fluxx.client_application()
    plain = await registered(fluxx, client)
    polling = await registered(fluxx, client, pollingUrl="https://ocr.example.com/jobs?v=2", apiKey=SECRET)
    await registered(fluxx, await fluxx.client_application("another one"))

    answer = await fluxx.http.get(f"/registration/{client}/extractors")

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == [
        {"clientApplicationExtractorId": plain["clientApplicationExtractorId"], "extractionUrl": URL},
        {
            "clientApplicationExtractorId": polling["clientApplicationExtractorId"],
            "extractionUrl": URL,
            "pollingUrl": "https://ocr.example.com/jobs?v=2",
        },
    ]


async def test_a_client_application_without_extractors_has_an_empty_list(fluxx: House) -> None:
    answer = await fluxx.http.get(f"/registration/{await fluxx.client_application()}/extractors")
    assert (answer.status_code, answer.json()) == (200, [])


@pytest.mark.parametrize("client", ["6f1b3c52-9d0e-4c59-8a63-0d4f6a4d7e11", "not-a-uuid", "%00", "client-applications"])
async def test_an_invalid_client_application_is_not_found(fluxx: House, client: str) -> None:
    problem_of(await fluxx.http.get(f"/registration/{client}/extractors"), 404)
    body = {"name": "OCR", "extractionUrl": URL}
    problem_of(await fluxx.http.post(f"/registration/{client}/extractors", json=body), 404)


async def test_client_applications_are_registered_and_listed(fluxx: House) -> None:
    made = await fluxx.http.post("/registration/client-applications", json={"name": "  Rechnungen & Söhne "})
    assert made.status_code == 201
    assert made.json()["name"] == "Rechnungen & Söhne"
    assert made.json()["isActive"] is True
    assert (await fluxx.http.get(made.headers["location"])).json() == []
    listed = await fluxx.http.get("/registration/client-applications")
    assert listed.json()[-1] == made.json()


async def test_the_key_goes_to_the_vault_and_nowhere_else(fluxx: House) -> None:
    client = await fluxx.client_application()
    body = {"name": "OCR", "extractionUrl": URL, "apiKey": SECRET}
    made = await fluxx.http.post(f"/registration/{client}/extractors", json=body)
    extractor_id = UUID(made.json()["clientApplicationExtractorId"])
    shown = await fluxx.http.get(made.headers["location"])

    assert (await fluxx.world.secrets.api_key(extractor_id)).reveal() == SECRET
    assert SECRET not in made.text + shown.text
    database = fluxx.world.settings.fluxx_home / "fluxx.db"
    written = b"".join(part.read_bytes() for part in database.parent.glob("fluxx.db*"))
    assert SECRET.encode() not in written
    assert all(SECRET not in repr(fields) for _, fields in fluxx.heard.all)


@pytest.mark.parametrize(
    "body",
    [
        {"name": "OCR", "apiKey": SECRET},
        {"name": 7, "extractionUrl": URL, "apiKey": SECRET},
        {"name": "OCR", "extractionUrl": "ftp://x", "apiKey": SECRET},
        {"name": "OCR", "extractionUrl": URL, "apiKey": SECRET + "\n"},
        {"name": "OCR", "extractionUrl": URL, "apiKey": [SECRET]},
        {"name": "OCR", "extractionUrl": f"https://user:{SECRET}@host/"},
    ],
)
async def test_a_refusal_never_shows_the_key(fluxx: House, body: dict[str, Any]) -> None:
    answer = await fluxx.http.post(f"/registration/{await fluxx.client_application()}/extractors", json=body)
    problem_of(answer, 422)
    assert SECRET not in answer.text


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "   "),
        ("name", "a\nb"),
        ("name", "n" * 201),
        ("name", "😀" * 101),
        ("name", None),
        ("extractionUrl", ""),
        ("extractionUrl", "not a url"),
        ("extractionUrl", "/relative"),
        ("extractionUrl", "https://"),
        ("extractionUrl", "ftp://host/file"),
        ("extractionUrl", "javascript:alert(1)"),
        ("extractionUrl", "https://user:password@host/"),
        ("extractionUrl", "https://user@host/"),
        ("extractionUrl", "https://host/#fragment"),
        ("extractionUrl", "https://host:99999/"),
        ("extractionUrl", "https://host:0/"),
        ("extractionUrl", "https://[::1/"),
        ("extractionUrl", "https://host/a b"),
        ("extractionUrl", "https://höst/"),
        ("extractionUrl", "https://host/" + "x" * 500),
        ("extractionUrl", "http://169.254.169.254/latest/meta-data"),
        ("extractionUrl", "http://10.0.0.1/extract"),
        ("extractionUrl", 7),
        ("pollingUrl", "http://[fd00::1]/"),
        ("pollingUrl", "file:///etc/passwd"),
        ("apiKey", ""),
        ("apiKey", "two\r\nlines"),
        ("apiKey", "schlüssel"),
        ("pollingURL", "https://host/"),
    ],
)
async def test_what_makes_no_sense_is_refused_by_its_name(fluxx: House, field: str, value: object) -> None:
    client = await fluxx.client_application()
    body = {"name": "OCR", "extractionUrl": URL, field: value}
    problem_of(await fluxx.http.post(f"/registration/{client}/extractors", json=body), 422, field=field)
    assert (await fluxx.http.get(f"/registration/{client}/extractors")).json() == []


@pytest.mark.parametrize(
    ("content", "status", "field"),
    [
        (b"", 422, "body"),
        (b"{", 400, "body"),
        (b"[]", 422, "body"),
        (b'"text"', 422, "body"),
        (b'{"name": "\\ud800"}', 422, "name"),
        (b'{"\\ud800": 1, "name": "x"}', 422, None),
        (b"\xff\xfe", 400, "body"),
        (b'{"name": "\xff"}', 400, "body"),
        (b"[" * 60_000, 400, "body"),
    ],
)
async def test_a_body_that_is_no_registration_is_refused(
    fluxx: House, content: bytes, status: int, field: str | None
) -> None:
    answer = await fluxx.http.post(
        "/registration/client-applications", content=content, headers={"content-type": "application/json"}
    )
    problem_of(answer, status, field=field)


async def test_a_large_body_is_refused_declared_or_not(fluxx: House) -> None:
    async def undeclared() -> Any:
        yield b'{"name": "'
        yield b"x" * 100_000

    for content in (b"x" * 100_000, undeclared()):
        answer = await fluxx.http.post(
            "/registration/client-applications", content=content, headers={"content-type": "application/json"}
        )
        problem_of(answer, 413)


async def test_an_extractor_is_changed_field_by_field(fluxx: House) -> None:
    client = await fluxx.client_application()
    made = await registered(fluxx, client, pollingUrl="https://ocr.example.com/jobs", apiKey="first")
    path = f"/registration/{client}/extractors/{made['clientApplicationExtractorId']}"
    changes: list[dict[str, Any]] = [
        {"name": "OCR 2"},
        {"extractionUrl": "https://ocr.example.com/v2"},
        {"pollingUrl": None},
        {},
    ]
    for change in changes:
        answer = await fluxx.http.patch(path, json=change)
        assert (answer.status_code, answer.content) == (204, b"")
        made = {key: value for key, value in {**made, **change}.items() if value is not None}
        assert (await fluxx.http.get(path)).json() == made
    extractor_id = UUID(made["clientApplicationExtractorId"])
    assert (await fluxx.world.secrets.api_key(extractor_id, fresh=True)).reveal() == "first"

    await fluxx.http.patch(path, json={"apiKey": "second"})
    assert (await fluxx.world.secrets.api_key(extractor_id, fresh=True)).reveal() == "second"


@pytest.mark.parametrize(
    "change",
    [
        {"name": None},
        {"name": " "},
        {"extractionUrl": None},
        {"extractionUrl": "http://10.0.0.1/"},
        {"isActive": None},
        {"isActive": "perhaps"},
        {"apiKey": None},
        {"apiKey": ""},
        {"pollingUrl": ""},
        {"createdAt": "2020-01-01T00:00:00Z"},
    ],
)
async def test_a_change_that_makes_no_sense_changes_nothing(fluxx: House, change: dict[str, Any]) -> None:
    client = await fluxx.client_application()
    made = await registered(fluxx, client, apiKey="first")
    path = f"/registration/{client}/extractors/{made['clientApplicationExtractorId']}"
    answer = await fluxx.http.patch(path, json={"name": "changed", **change})
    problem_of(answer, 422, field=next(iter(change)))
    assert (await fluxx.http.get(path)).json() == made
    key = await fluxx.world.secrets.api_key(UUID(made["clientApplicationExtractorId"]), fresh=True)
    assert key.reveal() == "first"


async def test_a_deactivated_extractor_gets_no_more_jobs_until_it_is_active_again(fluxx: House) -> None:
    client = await fluxx.client_application()
    made = await registered(fluxx, client, apiKey="kept")
    listing = f"/registration/{client}/extractors"
    path = f"{listing}/{made['clientApplicationExtractorId']}"

    assert [(await fluxx.http.delete(path)).status_code for _ in range(2)] == [204, 204]
    assert (await fluxx.http.get(listing)).json() == []
    assert (await fluxx.http.get(path)).json() == made | {"isActive": False}
    assert (await fluxx.world.secrets.api_key(UUID(made["clientApplicationExtractorId"]))).reveal() == "kept"

    await fluxx.http.patch(path, json={"isActive": True})
    assert len((await fluxx.http.get(listing)).json()) == 1


async def test_an_extractor_of_somebody_else_is_not_found(fluxx: House) -> None:
    owner, other = await fluxx.client_application(), await fluxx.client_application()
    made = await registered(fluxx, owner)
    for client, extractor_id in ((other, made["clientApplicationExtractorId"]), (owner, uuid4())):
        path = f"/registration/{client}/extractors/{extractor_id}"
        problem_of(await fluxx.http.get(path), 404)
        problem_of(await fluxx.http.patch(path, json={"name": "mine"}), 404)
        problem_of(await fluxx.http.delete(path), 404)
    problem_of(await fluxx.http.get(f"/registration/{owner}/extractors/seven"), 400, field="extractorId")


async def test_without_a_key_there_is_none_in_the_vault(fluxx: House) -> None:
    made = await registered(fluxx, await fluxx.client_application())
    with pytest.raises(SecretMissing):
        await fluxx.world.secrets.api_key(UUID(made["clientApplicationExtractorId"]))
