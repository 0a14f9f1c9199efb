"""Which jobs a page is about, as it stands in the address; and back into an address."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Self
from urllib.parse import urlencode
from uuid import UUID

import msgspec
from msgspec.structs import asdict

from fluxx.dashboard.context import Visitor
from fluxx.dashboard.forms import a_moment, an_id
from fluxx.errors import BadInput
from fluxx.model.job import Status
from fluxx.ports.jobs import JobFilter

LONGEST_SEARCH: Final = 400


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The filters of the page Jobs; empty text means any. ``since`` and ``until`` are minutes in UTC."""

    status: str = ""
    client: str = ""
    extractor: str = ""
    file: str = ""
    since: str = ""
    until: str = ""
    search: str = ""

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Self:
        """Return what an address (or a form) asks for; raise ``BadInput`` where it can't be understood."""
        given = {name: parameters.get(name, "").strip() for name in cls.__struct_fields__}
        wanted = cls(**given)
        wanted.job_filter()
        if len(wanted.search) > LONGEST_SEARCH:
            raise BadInput(f"search has more than {LONGEST_SEARCH} characters.", field="search", malformed=True)
        return wanted

    @property
    def is_any(self) -> bool:
        """Whether nothing is filtered."""
        return self == Wanted()

    def query(self, **more: Any) -> str:
        """Return the query string of an address, with a leading question mark; ``more`` goes over the filters."""
        given = {name: value for name, value in (asdict(self) | more).items() if value not in ("", None)}
        return "?" + urlencode(given) if given else ""

    def events_query(self) -> str:
        """Return the query string by which live events are asked for."""
        names = {
            "clientApplicationId": self.client,
            "clientApplicationExtractorId": self.extractor,
            "fileId": self.file,
        }
        given = {name: value for name, value in names.items() if value}
        return "?" + urlencode(given) if given else ""

    def job_filter(self) -> JobFilter:
        """Return the filter, without ``search``, which takes a look at the files."""
        return JobFilter(
            status=_status(self.status),
            client_application_id=_id(self.client, "client"),
            client_application_extractor_id=_id(self.extractor, "extractor"),
            file_id=_id(self.file, "file"),
            created_from=_moment(self.since, "since"),
            created_before=_moment(self.until, "until"),
        )


def visible(wanted: JobFilter, visitor: Visitor) -> JobFilter | None:
    """Return the filter bound to what the visitor sees; None where that is nothing."""
    own = visitor.client_application_id
    if own is None:
        return wanted
    if wanted.client_application_id not in (None, own):
        return None
    return msgspec.structs.replace(wanted, client_application_id=own)


def _status(text: str) -> Status | None:
    if not text:
        return None
    try:
        return Status(text)
    except ValueError:
        raise BadInput(f"There is no status {text[:40]!r}.", field="status", malformed=True) from None


def _id(text: str, field: str) -> UUID | None:
    return an_id(text, field=field) if text else None


def _moment(text: str, field: str) -> datetime | None:
    return a_moment(text, field=field) if text else None
