"""What ``ports.registrations`` promises about client applications, extractors and files.

Bind it with a subclass that has a fixture ``world``.
"""

from functools import reduce
from typing import Any
from uuid import uuid4

import pytest
from msgspec.structs import replace

from fluxx.errors import Conflict, NotFound
from support.stores import StoresWorld


class RegistrationsContract:
    async def test_client_applications_are_listed_oldest_first(self, world: StoresWorld) -> None:
        made = []
        for _ in range(3):
            made.append(await world.client_application())
            world.clock.jump(1)
        assert await world.registrations.client_applications() == made

    async def test_an_id_is_given_once(self, world: StoresWorld) -> None:
        client = await world.client_application()
        with pytest.raises(Conflict):
            await world.registrations.add_client_application(replace(client, name="Another"))
        assert await world.registrations.client_applications() == [client]

    async def test_an_extractor_belongs_to_a_client_application(self, world: StoresWorld) -> None:
        extractor = await world.extractor()
        orphan = replace(extractor, client_application_extractor_id=uuid4(), client_application_id=uuid4())
        with pytest.raises(NotFound):
            await world.registrations.add_extractor(orphan)
        assert await world.registrations.extractors() == [extractor]
        assert await world.registrations.extractor(extractor.client_application_extractor_id) == extractor

    async def test_extractors_are_listed_oldest_first_active_or_not(self, world: StoresWorld) -> None:
        client = await world.client_application()
        made = []
        for number in range(4):
            made.append(await world.extractor(client, is_active=number % 2 == 0))
            world.clock.jump(1)
        stranger = await world.extractor()
        assert await world.registrations.extractors(client.client_application_id) == made
        assert await world.registrations.extractors() == [*made, stranger]
        assert await world.registrations.active_extractors(client.client_application_id) == made[::2]

    async def test_a_client_application_without_extractors_has_none(self, world: StoresWorld) -> None:
        client = await world.client_application()
        assert await world.registrations.active_extractors(client.client_application_id) == []

    async def test_only_active_client_applications_have_active_extractors(self, world: StoresWorld) -> None:
        client = await world.client_application()
        retired = replace(client, client_application_id=uuid4(), is_active=False)
        await world.registrations.add_client_application(retired)
        await world.extractor(retired)
        for unknown in (uuid4(), retired.client_application_id):
            with pytest.raises(NotFound):
                await world.registrations.active_extractors(unknown)

    async def test_an_extractor_can_be_changed_but_for_its_owner(self, world: StoresWorld) -> None:
        extractor = await world.extractor()
        changed = replace(
            extractor,
            name="OCR größer",
            extraction_url="https://new.example/x",
            polling_url="https://new.example/poll",
            is_active=False,
        )
        await world.registrations.change_extractor(extractor, replace(changed, client_application_id=uuid4()))
        assert await world.registrations.extractor(extractor.client_application_extractor_id) == changed

    async def test_a_change_leaves_alone_what_others_changed_meanwhile(self, world: StoresWorld) -> None:
        seen = await world.extractor()
        changes: list[dict[str, Any]] = [
            {"is_active": False},
            {"name": "OCR größer"},
            {"extraction_url": "https://new.example/x"},
            {"polling_url": "https://new.example/poll"},
            {},
        ]
        for change in changes:
            await world.registrations.change_extractor(seen, replace(seen, **change))
        changed = reduce(lambda extractor, change: replace(extractor, **change), changes, seen)
        assert await world.registrations.extractor(seen.client_application_extractor_id) == changed

    async def test_what_is_not_there_is_not_found(self, world: StoresWorld) -> None:
        stranger = replace(await world.extractor(), client_application_extractor_id=uuid4())
        with pytest.raises(NotFound):
            await world.registrations.change_extractor(stranger, replace(stranger, name="Another"))
        with pytest.raises(NotFound):
            await world.registrations.extractor(uuid4())

    async def test_files_are_read_as_they_were_stored(self, world: StoresWorld) -> None:
        extractor = await world.extractor()
        whole = await world.file(extractor)
        upstream = replace(world.new_file(extractor), size=None, sha256=None, is_remote=True)
        await world.files.add_file(upstream)
        assert await world.files.file(whole.file_id) == whole
        found = await world.files.files([whole.file_id, upstream.file_id, uuid4()])
        assert found == {whole.file_id: whole, upstream.file_id: upstream}
        assert await world.files.files([]) == {}

    async def test_files_are_found_by_exactly_their_name_whatever_is_asked_for(self, world: StoresWorld) -> None:
        file = await world.file(await world.extractor())
        assert await world.files.files_named(file.file_name, limit=9) == [file]
        for other in ("", file.file_name[:-1], f"{file.file_name}\0", "\0", "x" * 5000):
            assert await world.files.files_named(other, limit=9) == []

    async def test_a_file_belongs_to_a_client_application(self, world: StoresWorld) -> None:
        file = replace(world.new_file(await world.extractor()), client_application_id=uuid4())
        with pytest.raises(NotFound):
            await world.files.add_file(file)
        with pytest.raises(NotFound):
            await world.files.file(file.file_id)
