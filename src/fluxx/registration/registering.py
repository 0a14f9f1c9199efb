"""How client applications and their extractors are registered and changed (stories 2, 3 and 6).

Called by the Registration API and the command line. An API key goes to the vault and nowhere else:
not to the database, not into a fact, not into an error's text.
"""

from contextlib import suppress
from typing import Final
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace
from uuid_utils.compat import uuid7

from fluxx.clock import Clock
from fluxx.errors import BadInput, EgressRefused, FluxxError, NotFound
from fluxx.model.job import ClientApplication, Extractor
from fluxx.ports.extractor import EgressRules
from fluxx.ports.registrations import RegistrationStore
from fluxx.ports.secrets import ApiKey, Secrets
from fluxx.registration.urls import checked_url

LONGEST_NAME: Final = 200
"""UTF-16 code units: ``NVARCHAR(200)``."""


class ExtractorChange(msgspec.Struct, frozen=True, kw_only=True):
    """What to change of an extractor; what is unset stays. ``polling_url`` None removes it."""

    name: str | UnsetType = UNSET
    extraction_url: str | UnsetType = UNSET
    polling_url: str | UnsetType | None = UNSET
    is_active: bool | UnsetType = UNSET
    api_key: ApiKey | UnsetType = UNSET


class Registering:
    """Writes registrations. ``rules`` says which addresses extractors may have."""

    def __init__(self, *, store: RegistrationStore, secrets: Secrets, rules: EgressRules, clock: Clock) -> None:
        self._store = store
        self._secrets = secrets
        self._rules = rules
        self._clock = clock

    async def register_client_application(self, name: str) -> ClientApplication:
        """Add an active client application; raises ``BadInput``. Called twice, it adds two."""
        new = ClientApplication(
            client_application_id=uuid7(), name=_checked_name(name), is_active=True, created_at=self._clock.now()
        )
        await self._store.add_client_application(new)
        return new

    async def register_extractor(
        self,
        client_application_id: UUID,
        *,
        name: str,
        extraction_url: str,
        polling_url: str | None = None,
        api_key: ApiKey | None = None,
    ) -> Extractor:
        """Add an active extractor; whoever can see it finds its key. Called twice, it adds two.

        Raises ``BadInput``, or ``NotFound`` where there is no such active client application.
        """
        new = Extractor(
            client_application_extractor_id=uuid7(),
            client_application_id=client_application_id,
            name=_checked_name(name),
            extraction_url=self._checked_url(extraction_url, field="extractionUrl"),
            polling_url=None if polling_url is None else self._checked_url(polling_url, field="pollingUrl"),
            is_active=True,
            created_at=self._clock.now(),
        )
        await self._store.active_extractors(client_application_id)
        if api_key is None:
            await self._store.add_extractor(new)
        else:
            await self._add_with_key(new, api_key)
        return new

    async def extractor(self, client_application_id: UUID, extractor_id: UUID) -> Extractor:
        """Return an extractor, active or not; raises ``NotFound`` where it isn't this client application's."""
        found = await self._store.extractor(extractor_id)
        if found.client_application_id != client_application_id:
            # In the words for what doesn't exist: whose it is, is nobody else's business.
            raise NotFound(f"There is no extractor {extractor_id}.")
        return found

    async def change_extractor(
        self, client_application_id: UUID, extractor_id: UUID, change: ExtractorChange
    ) -> Extractor:
        """Change an extractor; asked twice, nothing more changes. Raises ``BadInput`` or ``NotFound``.

        The key is written first: after a failure in between the same request, sent again, completes it.
        """
        found = await self.extractor(client_application_id, extractor_id)
        changed = self._changed(found, change)
        if not isinstance(change.api_key, UnsetType):
            await self._secrets.set_api_key(extractor_id, change.api_key)
        await self._store.change_extractor(found, changed)
        return changed

    async def deactivate_extractor(self, client_application_id: UUID, extractor_id: UUID) -> None:
        """Let the extractor get no more jobs; twice is fine. Raises ``NotFound``.

        Its key stays in the vault: jobs that are under way are still polled with it.
        """
        await self.change_extractor(client_application_id, extractor_id, ExtractorChange(is_active=False))

    async def set_api_key(self, extractor_id: UUID, key: ApiKey) -> None:
        """Store or replace an extractor's key; raises ``NotFound``, or ``BadInput`` for an unusable key."""
        await self._store.extractor(extractor_id)
        await self._secrets.set_api_key(extractor_id, key)

    async def _add_with_key(self, new: Extractor, key: ApiKey) -> None:
        """Key first, then row: a crash in between leaves a key that no row names, and nobody sees it."""
        extractor_id = new.client_application_extractor_id
        await self._secrets.set_api_key(extractor_id, key)
        try:
            await self._store.add_extractor(new)
        except Exception:
            with suppress(FluxxError):
                await self._secrets.delete_api_key(extractor_id)
            raise

    def _changed(self, old: Extractor, change: ExtractorChange) -> Extractor:
        new = old
        if not isinstance(change.name, UnsetType):
            new = replace(new, name=_checked_name(change.name))
        if not isinstance(change.extraction_url, UnsetType):
            new = replace(new, extraction_url=self._checked_url(change.extraction_url, field="extractionUrl"))
        if isinstance(change.polling_url, str):
            new = replace(new, polling_url=self._checked_url(change.polling_url, field="pollingUrl"))
        elif change.polling_url is None:
            new = replace(new, polling_url=None)
        if not isinstance(change.is_active, UnsetType):
            new = replace(new, is_active=change.is_active)
        return new

    def _checked_url(self, url: str, *, field: str) -> str:
        checked_url(url, field=field)
        try:
            self._rules.check_url(url)
        except EgressRefused as refused:
            raise BadInput(str(refused), field=field) from refused
        return url


def _checked_name(name: str) -> str:
    stripped = name.strip()
    if not stripped or not stripped.isprintable():
        raise BadInput("name must be printable and not blank.", field="name")
    if len(stripped.encode("utf-16-le")) > 2 * LONGEST_NAME:
        raise BadInput(f"name has more than {LONGEST_NAME} characters.", field="name")
    return stripped
