"""What ``ports.secrets`` promises, whatever keeps it.

Bind it with a subclass that has a fixture ``world``.
"""

import logging
from typing import Any, Protocol, cast
from uuid import UUID, uuid4

import pytest

from fluxx.errors import BadInput, SecretMissing
from fluxx.ports.secrets import ApiKey, Secrets

KEY = "sk-1234567890/abc+def=="


class SecretsWorld(Protocol):
    """A secret store whose cached keys outlive the test, and its back door."""

    secrets: Secrets

    def put(self, extractor_id: UUID, value: str) -> None:
        """Store a value as an operator would, past the port."""
        ...


class SecretsContract:
    async def test_check_finds_it_usable(self, world: SecretsWorld) -> None:
        await world.secrets.check()

    async def test_a_key_that_was_stored_is_returned(self, world: SecretsWorld) -> None:
        extractor_id, other_id = uuid4(), uuid4()
        await world.secrets.set_api_key(extractor_id, ApiKey(KEY))
        await world.secrets.set_api_key(other_id, ApiKey("another"))
        assert (await world.secrets.api_key(extractor_id)).reveal() == KEY
        assert (await world.secrets.api_key(other_id)).reveal() == "another"

    async def test_a_missing_key_is_told_with_the_extractor(self, world: SecretsWorld) -> None:
        extractor_id = uuid4()
        for fresh in (False, True, False):
            with pytest.raises(SecretMissing, match=str(extractor_id)):
                await world.secrets.api_key(extractor_id, fresh=fresh)

    async def test_a_key_that_comes_later_is_found(self, world: SecretsWorld) -> None:
        extractor_id = uuid4()
        with pytest.raises(SecretMissing):
            await world.secrets.api_key(extractor_id)
        world.put(extractor_id, KEY)
        assert (await world.secrets.api_key(extractor_id)).reveal() == KEY

    async def test_a_replaced_key_counts_at_once(self, world: SecretsWorld) -> None:
        extractor_id = uuid4()
        for key in ("first", "second"):
            await world.secrets.set_api_key(extractor_id, ApiKey(key))
            assert (await world.secrets.api_key(extractor_id)).reveal() == key

    async def test_a_key_rotated_elsewhere_is_seen_by_a_fresh_read_and_from_then_on(self, world: SecretsWorld) -> None:
        extractor_id = uuid4()
        world.put(extractor_id, "before")
        assert (await world.secrets.api_key(extractor_id)).reveal() == "before"
        world.put(extractor_id, "after")
        assert (await world.secrets.api_key(extractor_id)).reveal() == "before", "the cache must spare the store"
        assert (await world.secrets.api_key(extractor_id, fresh=True)).reveal() == "after"
        assert (await world.secrets.api_key(extractor_id)).reveal() == "after"

    async def test_a_deleted_key_is_missing_and_can_be_deleted_again(self, world: SecretsWorld) -> None:
        extractor_id = uuid4()
        await world.secrets.set_api_key(extractor_id, ApiKey(KEY))
        await world.secrets.api_key(extractor_id)
        for _ in range(2):
            await world.secrets.delete_api_key(extractor_id)
            with pytest.raises(SecretMissing):
                await world.secrets.api_key(extractor_id)

    async def test_a_key_can_be_stored_again_after_its_deletion(self, world: SecretsWorld) -> None:
        extractor_id = uuid4()
        await world.secrets.set_api_key(extractor_id, ApiKey("first"))
        await world.secrets.delete_api_key(extractor_id)
        await world.secrets.set_api_key(extractor_id, ApiKey("second"))
        assert (await world.secrets.api_key(extractor_id)).reveal() == "second"

    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    async def test_one_newline_at_the_end_is_not_part_of_a_key(self, world: SecretsWorld, end: str) -> None:
        extractor_id = uuid4()
        world.put(extractor_id, KEY + end)
        assert (await world.secrets.api_key(extractor_id)).reveal() == KEY

    @pytest.mark.parametrize("value", ["", "\n", "two\nlines", "k3y\n\n", "schlüssel", "k3y\tb\x00"])
    async def test_a_stored_value_that_no_header_can_carry_is_no_key(self, world: SecretsWorld, value: str) -> None:
        extractor_id = uuid4()
        world.put(extractor_id, value)
        with pytest.raises(SecretMissing, match=str(extractor_id)) as caught:
            await world.secrets.api_key(extractor_id)
        assert not value.strip() or value.strip() not in repr(caught.value)

    @pytest.mark.parametrize("value", ["", " ", "two\nlines", "end\n", "schlüssel", "\x7f", "x" * 25_001])
    async def test_a_key_that_no_header_can_carry_is_refused(self, world: SecretsWorld, value: str) -> None:
        with pytest.raises(BadInput) as caught:
            await world.secrets.set_api_key(uuid4(), ApiKey(value))
        assert caught.value.field == "apiKey"
        assert not value.strip() or value not in str(caught.value)

    @pytest.mark.parametrize("name", ["", "../other", "a/b", "a_b", "a.b", "a b", "ä", "a\n", "x" * 128, "..data"])
    async def test_a_name_that_no_vault_takes_is_refused(self, world: SecretsWorld, name: str) -> None:
        weird = cast("UUID", name)
        for refused in (
            world.secrets.api_key(weird),
            world.secrets.set_api_key(weird, ApiKey(KEY)),
            world.secrets.delete_api_key(weird),
        ):
            with pytest.raises(BadInput):
                await refused

    async def test_a_key_shows_itself_nowhere(self, world: SecretsWorld, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        extractor_id = uuid4()
        await world.secrets.set_api_key(extractor_id, ApiKey(KEY))
        key: Any = await world.secrets.api_key(extractor_id, fresh=True)
        await world.secrets.delete_api_key(extractor_id)
        shown = [str(key), repr(key), f"{key}", f"{key!s:>5}", f"{[key]}", "{}".format(key), "%s %r" % (key, key)]  # noqa: UP031, UP032 - every way to show it
        assert not any(KEY in each for each in [*shown, caplog.text, repr(world.secrets), repr(vars(world.secrets))])
