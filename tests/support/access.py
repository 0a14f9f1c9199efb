"""Callers with keys, for services that ask for them."""

from uuid import UUID

import msgspec

from fluxx.api.access.callers import Role
from fluxx.api.access.keys import entry_of, new_key


class Known(msgspec.Struct, frozen=True):
    """A caller as both sides know it: the ``key`` itself, and the ``entry`` of ``API_KEYS``."""

    key: str
    entry: str

    @property
    def headers(self) -> dict[str, str]:
        """How the key is shown."""
        return {"Authorization": f"Bearer {self.key}"}


def known(role: Role, *, client: UUID | None = None, name: str | None = None) -> Known:
    """A caller with a fresh key."""
    key = new_key()
    return Known(
        key,
        entry_of(key, name=name or f"{role!s}{'-bound' if client else ''}", role=role, client_application_id=client),
    )


def setting(*callers: Known) -> str:
    """``API_KEYS`` that knows these callers."""
    return ",".join(caller.entry for caller in callers)
