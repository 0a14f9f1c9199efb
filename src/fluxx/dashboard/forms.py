"""What comes back from forms: only from our own pages, in bounds, as text."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from python_multipart.multipart import parse_options_header
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request

from fluxx.errors import BadInput

LARGEST_FORM: Final = 1024 * 1024
"""Bytes of a form without a file: thousands of selected jobs."""

MOST_FIELDS: Final = 20_000
SAFE: Final = ("same-origin", "none")
CHARSETS: Final = (b"utf-8", b"utf8")
"""Browsers name none, and send forms as our pages are encoded; Python knows many that text doesn't survive."""

_COUNT: Final = re.compile(r"[0-9]{1,9}")


def check_origin(headers: Mapping[str, str]) -> None:
    """Refuse (403) what another site made a browser send; programs send no ``Origin`` and are no browsers."""
    if _is_foreign(headers.get("sec-fetch-site"), headers.get("origin"), headers.get("host")):
        raise HTTPException(HTTPStatus.FORBIDDEN, "This form did not come from a page of this service.")


def _is_foreign(site: str | None, origin: str | None, host: str | None) -> bool:
    if site is not None and site not in SAFE:
        return True
    try:
        return origin is not None and urlsplit(origin).netloc != host
    except ValueError:
        return True


class Fields:
    """The fields of a form, as text without surrounding space."""

    def __init__(self, fields: Mapping[str, list[str]]) -> None:
        self._fields = fields

    def text(self, name: str) -> str:
        """Return a field; one that is missing is empty."""
        return self._fields.get(name, [""])[0].strip()

    def count(self, name: str) -> int:
        """Return a field as a number; what is none, or none that we would have written, is 0."""
        return int(self.text(name)) if _COUNT.fullmatch(self.text(name)) else 0

    def id(self, name: str) -> UUID | None:
        """Return a field as an id, None where it is empty; raise ``BadInput``."""
        return an_id(self.text(name), field=name) if self.text(name) else None

    def moment(self, name: str) -> datetime | None:
        """Return a field as a moment, None where it is empty; raise ``BadInput``."""
        return a_moment(self.text(name), field=name) if self.text(name) else None

    def ids(self, name: str) -> list[UUID]:
        """Return every value of a field as an id; raise ``BadInput``."""
        return [an_id(value, field=name) for value in self._fields.get(name, [])]


@asynccontextmanager
async def form_of(
    request: Request, *, largest: int, too_large: str, max_files: int, max_fields: int
) -> AsyncIterator[FormData]:
    """Give a form of ours of up to ``largest`` bytes; raise 403, 411, 415, or 413 in the words ``too_large``.

    One that comes in chunks doesn't say how long it is; no browser sends it so.
    """
    check_origin(request.headers)
    if "transfer-encoding" in request.headers:
        raise HTTPException(HTTPStatus.LENGTH_REQUIRED, "The form must say how long it is.")
    if int(request.headers.get("content-length", "0")) > largest:
        raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, too_large)
    _, options = parse_options_header(request.headers.get("content-type"))
    if options.get(b"charset", b"utf-8").lower() not in CHARSETS:
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "The form must be in UTF-8.")
    async with request.form(max_files=max_files, max_fields=max_fields) as form:
        yield form


async def fields_of(request: Request) -> Fields:
    """Return the fields of a form without files; raises as ``form_of`` does."""
    words = "The form is too large."
    async with form_of(request, largest=LARGEST_FORM, too_large=words, max_files=0, max_fields=MOST_FIELDS) as form:
        fields: dict[str, list[str]] = {}
        for name, value in form.multi_items():
            if isinstance(value, str):
                fields.setdefault(name, []).append(value)
    return Fields(fields)


def an_id(text: str, *, field: str) -> UUID:
    """Return an id that came as text; raise ``BadInput``."""
    try:
        return UUID(text)
    except ValueError:
        raise BadInput(f"{field} is not an id: {text[:80]!r}.", field=field, malformed=True) from None


def a_moment(text: str, *, field: str) -> datetime:
    """Return a moment that came as text, in UTC, which is also meant where no zone is named; raise ``BadInput``."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):  # in UTC it may lie before the year 1, or after 9999
        raise BadInput(f"{field} is not a time such as 2026-03-01T12:00.", field=field, malformed=True) from None
