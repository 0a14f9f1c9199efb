"""Without keys, programs of this machine may call, and no web page may do so through a browser."""

from pathlib import Path

import httpx
import pytest

from fluxx.api.access.callers import Role
from fluxx.errors import Misconfigured
from fluxx.telemetry import CALLER_REFUSED
from support.access import known, setting
from support.problems import problem_of
from support.service import House, house

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def called(fluxx: House, headers: dict[str, str]) -> httpx.Response:
    return await fluxx.http.get("/extractor/jobs", headers=headers)


@pytest.mark.parametrize(
    "host", ["localhost:8080", "LOCALHOST", "127.0.0.1", "127.1.2.3:80", "[::1]:8080", "localhost."]
)
async def test_this_machine_by_any_of_its_names(fluxx: House, host: str) -> None:
    assert (await called(fluxx, {"Host": host})).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", "[", ""],
)
async def test_a_name_that_was_made_to_mean_this_machine_is_refused(fluxx: House, host: str) -> None:
    problem_of(await called(fluxx, {"Host": host}), 403)
    assert fluxx.heard.of(CALLER_REFUSED)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:3000"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
async def test_a_foreign_page_can_send_nothing(fluxx: House, headers: dict[str, str]) -> None:
    client = await fluxx.client_application()
    answer = await fluxx.http.post(
        "/files", params={"clientApplicationId": str(client)}, files={"file": ("a", b"x")}, headers=headers
    )
    problem_of(answer, 403)


async def test_our_own_page_can(fluxx: House) -> None:
    own = {"Origin": str(fluxx.service.url), "Sec-Fetch-Site": "same-origin"}
    assert (await called(fluxx, own)).status_code == 200
    assert (await called(fluxx, {"Sec-Fetch-Site": "none"})).status_code == 200


async def test_open_routes_answer_under_any_name(fluxx: House) -> None:
    answer = await fluxx.http.get("/healthz", headers={"Host": "probe.example"})
    assert answer.status_code == 200


async def test_with_keys_any_name_and_page_may_call(tmp_path: Path) -> None:
    reader = known(Role.READ)
    async with house(tmp_path, roles=frozenset({"jobs"}), api_keys=setting(reader)) as guarded:
        headers = {"Host": "fluxx.example", "Origin": "https://dashboard.example", **reader.headers}
        assert (await called(guarded, headers)).status_code == 200


async def test_keys_that_make_no_sense_keep_the_service_from_starting(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="API_KEYS: entry 1"):
        async with house(tmp_path, roles=frozenset({"jobs"}), api_keys="a-plain-key"):
            pass
