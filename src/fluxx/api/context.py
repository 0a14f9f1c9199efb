"""What the routes stand on. Made by the wiring, handed to ``create_app``."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Protocol
from uuid import UUID

import msgspec

from fluxx.api.access.credentials import Credentials
from fluxx.api.access.rates import Rates
from fluxx.api.gauges import Gauges
from fluxx.api.live_hub import Hub
from fluxx.clock import Clock
from fluxx.extraction.intervention import Intervention
from fluxx.intake.uploading import Uploading
from fluxx.ports.blobs import Blobs
from fluxx.ports.jobs import JobReader
from fluxx.ports.registrations import FileStore, RegistrationStore
from fluxx.registration.registering import Registering
from fluxx.telemetry import Facts


class SignatureCheck(Protocol):
    """Knows which signed URLs of files are real, and still valid."""

    def verify(self, file_id: UUID, expires: int, signature: str, now: datetime) -> bool:
        """Whether ``signature`` was made for this file and ``expires`` (Unix seconds) is still to come."""
        ...


class ApiContext(msgspec.Struct, frozen=True, kw_only=True):
    """The parts behind the routes.

    ``checks`` are what ``/readyz`` asks, by the names it shows; each raises where its part is away.
    ``signer`` checks the signed URLs of embedded files; it is None where a storage account serves
    the files: then there are no signed URLs here. ``credentials`` knows the callers, ``rates`` how often each called.
    ``live`` serves those who follow jobs as they change.
    """

    registrations: RegistrationStore
    registering: Registering
    files: FileStore
    uploading: Uploading
    reader: JobReader
    intervention: Intervention
    blobs: Blobs
    live: Hub
    gauges: Gauges
    signer: SignatureCheck | None
    credentials: Credentials
    rates: Rates
    checks: Mapping[str, Callable[[], Awaitable[None]]]
    clock: Clock
    facts: Facts
