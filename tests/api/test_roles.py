"""Every route asks for the role that it declares, and every route declares one."""

from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import httpx
import pytest
import pytest_asyncio

from fluxx.api.access.callers import Role
from fluxx.api.access.guard import Guard
from fluxx.api.access.headers import ON_EVERY_ANSWER
from fluxx.api.access.rates import Rates
from fluxx.api.access.roles import NEEDS, OPEN
from fluxx.api.app import create_app
from fluxx.api.openapi import DescribedApi
from fluxx.running import api_context
from support.access import known, setting
from support.problems import problem_of
from support.service import House, house

pytestmark = pytest.mark.asyncio(loop_scope="module")

OWN = UUID("01990b6e-2f3c-7d41-9a55-0c2c8f6e1b7a")
ROLES = [role for role in Role if role is not Role.NONE]
FREE = {role: known(role) for role in ROLES}
BOUND = {role: known(role, client=OWN) for role in ROLES}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def guarded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    keys = setting(*FREE.values(), *BOUND.values())
    roles = frozenset({"registration", "files", "jobs"})
    async with house(tmp_path_factory.mktemp("home"), roles=roles, api_keys=keys) as running:
        yield running


async def send(fluxx: House, method: str, path: str, headers: dict[str, str] | None = None) -> httpx.Response:
    ids = {name: str(uuid4()) for name in ("extractorId", "fileId", "jobId")}
    query = {"clientApplicationId": str(OWN)} if path == "/files" else {}
    if path == "/docs/assets":
        path += "/favicon.png"
    url = path.format(**ids, clientAppId=OWN)
    async with fluxx.http.stream(method, url, params=query, headers=headers or {}) as answer:
        if not answer.headers.get("content-type", "").startswith("text/event-stream"):
            await answer.aread()  # a stream of events has no end to wait for
        return answer


def is_open(answer: httpx.Response) -> bool:
    """Whether a route let the request in; one that wants a signature says so in its own words."""
    return answer.status_code not in (401, 403) or (answer.status_code == 403 and "signature" in answer.text)


async def test_every_route_declares_its_role_and_every_declared_route_is_there(guarded: House) -> None:
    app = create_app(api_context(guarded.world))
    served = {
        ("GET" if method == "HEAD" else method, route.path)  # type: ignore[attr-defined]
        for route in app.routes
        for method in getattr(route, "methods", None) or {"GET"}
    }
    assert served == set(NEEDS)


async def test_every_operation_of_the_description_says_what_it_needs(guarded: House) -> None:
    document = (await guarded.http.get("/openapi.json")).json()
    assert set(document["components"]["securitySchemes"]) == {"bearer", "apiKey"}
    described = {
        (method.upper(), path): operation
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }
    undescribed = {("GET", "/openapi.json"), ("GET", "/docs"), ("GET", "/docs/start.js"), ("GET", "/docs/assets")}
    assert set(described) | undescribed == set(NEEDS)
    for route, operation in described.items():
        need = NEEDS[route]
        assert operation["security"] == ([] if need == OPEN else [{"bearer": []}, {"apiKey": []}]), route
        assert operation["x-fluxx-role"] == str(need.role)
        assert ("401" in operation["responses"]) == (need != OPEN)


async def test_a_route_without_a_declared_role_is_refused_and_cannot_be_described(guarded: House) -> None:
    app = DescribedApi()

    def forgotten() -> None:
        """Answer with nothing."""

    app.add_api_route("/forgotten", forgotten, methods=["GET"])
    context = api_context(guarded.world)
    app.add_middleware(
        Guard,
        credentials=context.credentials,
        rates=Rates(100),
        routes=app.router.routes,
        facts=context.facts,
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://any") as http:
        problem_of(await http.get("/forgotten", headers=FREE[Role.ADMIN].headers), 403)
    with pytest.raises(KeyError):
        app.openapi()


@pytest.mark.parametrize("route", NEEDS, ids=" ".join)
async def test_only_open_routes_answer_those_who_show_nothing_or_nonsense(
    guarded: House, route: tuple[str, str]
) -> None:
    for headers in (
        {},
        {"X-Api-Key": "fluxx_wrong"},
        {"Authorization": "Bearer a.b.c"},
        {"Authorization": "Basic eDp5"},
    ):
        answer = await send(guarded, *route, headers)
        if NEEDS[route] == OPEN:
            assert is_open(answer), answer.text
            continue
        problem_of(answer, 401)
        shown = ', error="invalid_token"' if headers else ""
        assert answer.headers["www-authenticate"] == f'Bearer realm="fluxx"{shown}'


@pytest.mark.parametrize("route", NEEDS, ids=" ".join)
@pytest.mark.parametrize("role", ROLES, ids=str)
async def test_each_role_may_what_its_routes_need_and_no_more(
    guarded: House, route: tuple[str, str], role: Role
) -> None:
    need = NEEDS[route]
    for caller, bound in ((FREE[role], False), (BOUND[role], True)):
        answer = await send(guarded, *route, caller.headers)
        if role >= need.role and not (need.whole and bound):
            assert is_open(answer), answer.status_code
        else:
            problem = problem_of(answer, 403)
            assert str(need) in problem["detail"]
            assert "insufficient_scope" in answer.headers["www-authenticate"]


async def test_head_needs_what_get_needs(guarded: House) -> None:
    path = f"/extractor/job/{uuid4()}/result"
    assert (await guarded.http.head(path)).status_code == 401
    assert (await guarded.http.head(path, headers=FREE[Role.READ].headers)).status_code == 404


@pytest.mark.parametrize(("method", "path"), [("GET", "/nowhere"), ("DELETE", "/files"), ("OPTIONS", "/files")])
async def test_what_there_is_not_is_told_to_callers_only(guarded: House, method: str, path: str) -> None:
    assert (await guarded.http.request(method, path)).status_code == 401
    known_one = await guarded.http.request(method, path, headers=FREE[Role.READ].headers)
    assert known_one.status_code in (404, 405)


@pytest.mark.parametrize(
    "path", ["/extractor//jobs", "/%65xtractor/jobs", "/extractor/jobs/", "//extractor/jobs", "/extractor/./jobs"]
)
async def test_no_spelling_of_a_path_leads_past_the_guard(guarded: House, path: str) -> None:
    answer = await guarded.http.get(path)
    problem_of(answer, 401)


@pytest.mark.parametrize("show", ["Bearer {}", "bearer {}", "BEARER   {}"])
async def test_a_key_is_shown_as_a_bearer_token(guarded: House, show: str) -> None:
    headers = {"Authorization": show.format(FREE[Role.READ].key)}
    assert (await guarded.http.get("/extractor/jobs", headers=headers)).status_code == 200


async def test_a_key_is_shown_in_its_own_header(guarded: House) -> None:
    headers = {"X-Api-Key": FREE[Role.READ].key}
    assert (await guarded.http.get("/extractor/jobs", headers=headers)).status_code == 200
    # as behind a gateway that uses Authorization for itself
    assert (
        await guarded.http.get("/extractor/jobs", headers={"Authorization": "Basic eA==", **headers})
    ).status_code == 200


async def test_a_key_in_the_query_is_no_key(guarded: House) -> None:
    key = FREE[Role.READ].key
    problem_of(await guarded.http.get("/extractor/jobs", params={"api_key": key, "access_token": key}), 401)


@pytest.mark.parametrize("caller", [{}, {"X-Api-Key": "x"}, FREE[Role.READ].headers])
async def test_every_answer_carries_the_security_headers(guarded: House, caller: dict[str, str]) -> None:
    for route in NEEDS:
        answer = await send(guarded, *route, caller)
        for name in ON_EVERY_ANSWER:
            assert name in answer.headers, (route, name)
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert "unsafe-inline" not in answer.headers["content-security-policy"].replace(
            "style-src 'self' 'unsafe-inline'", ""
        )
