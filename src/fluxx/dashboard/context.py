"""What the pages stand on. Made by ``running``, handed to ``add_dashboard``."""

from collections.abc import Awaitable, Callable
from uuid import UUID

import msgspec
from starlette.requests import Request

from fluxx.clock import Clock
from fluxx.errors import NotFound
from fluxx.extraction.intervention import Intervention
from fluxx.intake.uploading import Uploading
from fluxx.model.deadlines import Limits
from fluxx.ports.blobs import Blobs
from fluxx.ports.jobs import JobReader
from fluxx.ports.observing import Observer
from fluxx.ports.presence import Presence
from fluxx.ports.registrations import FileStore, RegistrationStore
from fluxx.registration.registering import Registering
from fluxx.roles import Roles
from fluxx.telemetry import Facts


class Visitor(msgspec.Struct, frozen=True, kw_only=True):
    """Who looks at a page, what it may do here, and the one client application that it sees (None: all)."""

    name: str
    may_operate: bool
    may_upload: bool
    may_register: bool
    client_application_id: UUID | None = None

    def sees(self, client_application_id: UUID) -> bool:
        """Whether it may know of what belongs to this client application."""
        return self.client_application_id in (None, client_application_id)

    def check(self, client_application_id: UUID, otherwise: str) -> None:
        """Raise ``NotFound(otherwise)`` for what belongs to another client application."""
        if not self.sees(client_application_id):
            raise NotFound(otherwise)


class DashboardContext(msgspec.Struct, frozen=True, kw_only=True):
    """The parts behind the pages.

    ``roles`` are the process's: without ``registration`` and ``files`` it has no right to what those two write, and
    no pages for it. ``visitor`` says who asks, None for whoever is let in without a key; ``knows`` whether a key is
    valid, None where no keys are configured.
    """

    roles: Roles

    registrations: RegistrationStore
    registering: Registering
    files: FileStore
    uploading: Uploading
    reader: JobReader
    observer: Observer
    presence: Presence
    intervention: Intervention
    blobs: Blobs
    limits: Limits
    clock: Clock
    facts: Facts
    visitor: Callable[[Request], Visitor | None]
    knows: Callable[[str], Awaitable[bool]] | None = None
