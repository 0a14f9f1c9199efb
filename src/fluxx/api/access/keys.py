"""The API keys of ``API_KEYS``: only their hashes are configured, and only hashes are compared.

A key is 256 random bits made by ``fluxx key new``. There is nothing to guess in it, so a plain SHA-256 keeps it as
well as a slow hash would, and costs a request nothing.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from typing import Final
from uuid import UUID

import msgspec

from fluxx.api.access.callers import ROLE_NAMES, Caller, Role
from fluxx.errors import Misconfigured

PREFIX: Final = "fluxx_"
"""So that a key that leaked into a repository is found by scanners, and told from a token at a glance."""

LONGEST_KEY: Final = 200
_ENTRY: Final = re.compile(
    r"(?P<name>[\w.@-]{1,80}):(?P<role>\w+):(?P<sha256>[0-9a-fA-F]{64})(?::(?P<client>[0-9a-fA-F-]{36}))?", re.ASCII
)


class _Entry(msgspec.Struct, frozen=True):
    sha256: bytes
    caller: Caller


class ApiKeys:
    """Knows the callers of ``API_KEYS``: entries ``name:role:sha256[:clientApplicationId]``, comma-separated."""

    def __init__(self, setting: str) -> None:
        parts = [part.strip() for part in setting.split(",") if part.strip()]
        self._entries: Sequence[_Entry] = [_entry(part, number) for number, part in enumerate(parts, start=1)]
        names = [entry.caller.name for entry in self._entries]
        if twice := {name for name in names if names.count(name) > 1}:
            raise Misconfigured(f"API_KEYS: the name {min(twice)} comes twice.")

    def __len__(self) -> int:
        """Return how many keys there are."""
        return len(self._entries)

    def caller(self, key: str) -> Caller | None:
        """Return whose key it is; takes as long for a wrong key as for a right one."""
        given = hashlib.sha256(key.encode(errors="replace")).digest() if len(key) <= LONGEST_KEY else b""
        found = None
        for entry in self._entries:
            if hmac.compare_digest(entry.sha256, given):
                found = entry.caller
        return found


def new_key() -> str:
    """Return a new key."""
    return PREFIX + secrets.token_urlsafe(32)


def entry_of(key: str, *, name: str, role: Role, client_application_id: UUID | None = None) -> str:
    """Return what to put into ``API_KEYS`` for ``key``; raises ``Misconfigured`` for an unusable name."""
    parts = [name, str(role), hashlib.sha256(key.encode()).hexdigest()]
    entry = ":".join(parts + ([str(client_application_id)] if client_application_id else []))
    _entry(entry, 1)
    return entry


def _entry(text: str, number: int) -> _Entry:
    """Read one entry. Errors count it and never quote it: somebody may have put a key itself there."""
    match = _ENTRY.fullmatch(text)
    if match is None:
        raise Misconfigured(
            f"API_KEYS: entry {number} is not name:role:sha256 or name:role:sha256:clientApplicationId; "
            "`fluxx key new` makes one."
        )
    role = ROLE_NAMES.get(match["role"])
    if role is None:
        raise Misconfigured(f"API_KEYS: entry {number} has an unknown role; there are: {', '.join(ROLE_NAMES)}.")
    try:
        client = UUID(match["client"]) if match["client"] else None
    except ValueError:
        raise Misconfigured(f"API_KEYS: entry {number} names a client application that is no UUID.") from None
    return _Entry(bytes.fromhex(match["sha256"]), Caller(match["name"], role, client))
