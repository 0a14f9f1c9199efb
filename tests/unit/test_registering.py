"""The key and the row of an extractor: no half state shows, whatever fails."""

import random
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from msgspec.structs import replace

from fluxx import settings, wiring
from fluxx.clock import SystemClock
from fluxx.errors import BadInput, NotFound, SecretMissing, Unavailable
from fluxx.ports.secrets import ApiKey
from fluxx.registration.registering import ExtractorChange
from fluxx.telemetry import Facts
from fluxx.wiring import World

URL = "https://ocr.example.com/extract"
KEY = ApiKey("a-made-up-key")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with wiring.connect(
        settings.load(fluxx_home=tmp_path), facts=Facts(), clock=SystemClock(), chance=random.Random(1)
    ) as opened:
        yield opened


class AwayVault:
    """A vault that can't be reached."""

    async def set_api_key(self, *_: object) -> None:
        raise Unavailable("The vault is away.")


async def client_of(world: World) -> UUID:
    return (await wiring.registering(world).register_client_application("x")).client_application_id


def keys_in(world: World) -> list[str]:
    return [path.name for path in (world.settings.fluxx_home / "secrets").iterdir() if path.name.count("-") == 4]


async def test_without_the_vault_no_extractor_is_seen(world: World) -> None:
    client = await client_of(world)
    registering = wiring.registering(replace(world, secrets=AwayVault()))
    with pytest.raises(Unavailable):
        await registering.register_extractor(client, name="OCR", extraction_url=URL, api_key=KEY)
    assert await world.registrations.extractors() == []


async def test_an_unknown_client_application_leaves_no_key(world: World) -> None:
    registering = wiring.registering(world)
    with pytest.raises(NotFound):
        await registering.register_extractor(uuid4(), name="OCR", extraction_url=URL, api_key=KEY)
    assert keys_in(world) == []


class RowlessStore:
    """Registrations that know every client application and take no extractor."""

    async def active_extractors(self, *_: object) -> list[object]:
        return []

    async def add_extractor(self, *_: object) -> None:
        raise Unavailable("The database is away.")


async def test_without_the_row_the_key_goes_again(world: World) -> None:
    registering = wiring.registering(replace(world, registrations=RowlessStore()))
    with pytest.raises(Unavailable):
        await registering.register_extractor(uuid4(), name="OCR", extraction_url=URL, api_key=KEY)
    assert keys_in(world) == []


async def test_an_unusable_key_changes_nothing(world: World) -> None:
    registering = wiring.registering(world)
    client = await client_of(world)
    made = await registering.register_extractor(client, name="OCR", extraction_url=URL)
    extractor_id = made.client_application_extractor_id
    with pytest.raises(BadInput, match="API key"):
        await registering.change_extractor(
            client, extractor_id, ExtractorChange(name="changed", api_key=ApiKey("two\nlines"))
        )
    assert await world.registrations.extractor(extractor_id) == made


async def test_a_key_is_set_for_a_known_extractor_only(world: World) -> None:
    registering = wiring.registering(world)
    with pytest.raises(NotFound):
        await registering.set_api_key(uuid4(), KEY)
    made = await registering.register_extractor(await client_of(world), name="OCR", extraction_url=URL)
    with pytest.raises(SecretMissing):
        await world.secrets.api_key(made.client_application_extractor_id)
    await registering.set_api_key(made.client_application_extractor_id, KEY)
    assert (await world.secrets.api_key(made.client_application_extractor_id)).reveal() == KEY.reveal()


def test_a_change_shows_no_key() -> None:
    assert "made-up" not in repr(ExtractorChange(api_key=KEY))
