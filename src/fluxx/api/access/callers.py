"""A caller: who it is, what it may do, and whose files and jobs it sees.

The guard finds out (``credentials``) and puts the caller beside the request; routes take it as
``CallerOf`` and show it nothing that belongs to another client application.
"""

from enum import IntEnum
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
from fastapi import Depends
from starlette.requests import Request

from fluxx.errors import FluxxError, NotFound

SCOPE_KEY: Final = "fluxx.caller"


class Unidentified(FluxxError):
    """Nobody knows who calls: there is no key or token, or it isn't valid (401)."""


class Role(IntEnum):
    """What a caller may do; each role includes those below it. ``NONE`` is known, and may do nothing."""

    NONE = 0
    READ = 1
    OPERATE = 2
    ADMIN = 3

    def __str__(self) -> str:
        """Return the name as it stands in settings and tokens."""
        return self.name.lower()


ROLE_NAMES: Final = {str(role): role for role in Role if role is not Role.NONE}


class Caller(msgspec.Struct, frozen=True):
    """Who calls. ``client_application_id`` binds it to one client application; None: it sees them all."""

    name: str
    role: Role
    client_application_id: UUID | None = None

    def sees(self, client_application_id: UUID) -> bool:
        """Whether it may know of what belongs to this client application."""
        return self.client_application_id in (None, client_application_id)

    def check(self, client_application_id: UUID, otherwise: str) -> None:
        """Raise ``NotFound(otherwise)`` for another's: in the very words for what doesn't exist."""
        if not self.sees(client_application_id):
            raise NotFound(otherwise)


LOCAL: Final = Caller("local", Role.ADMIN)
"""Whoever calls over loopback where no keys are configured: the machine's own user."""


async def caller_of(request: Request) -> Caller:
    """Return the caller that the guard found; a route that it didn't guard fails."""
    caller: Any = request.scope[SCOPE_KEY]
    if not isinstance(caller, Caller):
        raise TypeError("an open route knows no caller")
    return caller


CallerOf = Annotated[Caller, Depends(caller_of)]
