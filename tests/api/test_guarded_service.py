"""What the settings say of callers reaches the socket, and the Registration API's own callers."""

import random
from pathlib import Path

import pytest

from fluxx import settings, wiring
from fluxx.api.access.callers import Role
from fluxx.clock import SystemClock
from fluxx.errors import Misconfigured
from fluxx.roles import ALL_ROLES, Roles
from fluxx.running import Service
from fluxx.telemetry import SERVICE_STOPPED, Facts
from support.access import known, setting
from support.facts import FactsHeard
from support.problems import problem_of
from support.service import house

READER, WRITER = known(Role.READ), known(Role.OPERATE)


async def started_and_stopped(
    home: Path, *, roles: Roles = frozenset({"jobs"}), host: str = "0.0.0.0", **overrides: str
) -> FactsHeard:
    facts = Facts()
    heard = FactsHeard(facts)
    loaded = settings.load(fluxx_home=home, **overrides)
    async with wiring.connect(loaded, facts=facts, clock=SystemClock(), chance=random.Random(1)) as world:
        service = Service(world, roles=roles, host=host, port=0)
        service.stop()
        await service.run()
    return heard


async def test_without_keys_the_service_refuses_other_addresses(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="without API_KEYS or AUTH_ISSUER anyone could call"):
        await started_and_stopped(tmp_path)


@pytest.mark.parametrize(
    "overrides",
    [{"api_keys": setting(READER)}, {"auth_issuer": "https://login.example/", "auth_audience": "api://fluxx"}],
    ids=["keys", "issuer"],
)
async def test_with_keys_or_an_issuer_it_listens_anywhere(tmp_path: Path, overrides: dict[str, str]) -> None:
    assert (await started_and_stopped(tmp_path, **overrides)).of(SERVICE_STOPPED)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "0"])
async def test_no_extractor_is_sent_to_an_address_that_means_this_machine(tmp_path: Path, host: str) -> None:
    keys = setting(READER)
    with pytest.raises(Misconfigured, match=f"PUBLIC_URL must be set where {host} is listened on") as refused:
        await started_and_stopped(tmp_path, roles=ALL_ROLES, host=host, api_keys=keys)
    assert "\n" not in str(refused.value)
    heard = await started_and_stopped(
        tmp_path, roles=ALL_ROLES, host=host, api_keys=keys, public_url="http://fluxx.internal:8080"
    )
    assert heard.of(SERVICE_STOPPED)


@pytest.mark.parametrize("half", [{"auth_issuer": "https://login.example/"}, {"auth_audience": "api://fluxx"}])
def test_an_issuer_without_an_audience_is_half_a_setting(half: dict[str, str]) -> None:
    with pytest.raises(Misconfigured, match="AUTH_ISSUER and AUTH_AUDIENCE must be set together"):
        settings.load(**half)


async def test_keys_that_are_set_but_empty_open_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, roles=frozenset({"jobs"}), api_keys=",") as fluxx:
        problem_of(await fluxx.http.get("/extractor/jobs"), 401)


async def test_the_registration_api_is_shown_its_key(tmp_path: Path) -> None:
    keys = setting(READER, WRITER)
    async with house(tmp_path, roles=frozenset({"registration"}), api_keys=keys) as registration:
        client = await registration.client_application()
        url = registration.service.url
        for key, status in ((READER.key, 202), ("fluxx_wrong", 503), (None, 503)):
            async with house(
                tmp_path, roles=frozenset({"files"}), registration_url=url, registration_api_key=key
            ) as files:
                answer = await files.http.post(
                    "/files", params={"clientApplicationId": str(client)}, files={"file": ("a.pdf", b"%PDF")}
                )
            assert answer.status_code == status, answer.text
