"""Pages of a newest-first listing: limits, and cursors that say nothing to their bearer."""

import base64
import binascii
import struct
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final
from uuid import UUID

from fastapi import Query

from fluxx.errors import BadInput
from fluxx.ports.jobs import Position

DEFAULT_LIMIT: Final = 50
LARGEST_LIMIT: Final = 200

Limit = Annotated[int, Query(ge=1, le=LARGEST_LIMIT, description="Most items on the page.")]
Cursor = Annotated[
    str | None, Query(max_length=100, description="`nextCursor` of the page before; left out: the first page.")
]

_FORM: Final = struct.Struct(">q16s")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def cursor_of(position: Position) -> str:
    """Return the cursor that leads to what comes after ``position``."""
    microseconds = (position.created_at - _EPOCH) // _MICROSECOND
    return base64.urlsafe_b64encode(_FORM.pack(microseconds, position.job_id.bytes)).decode()


def position_of(cursor: str) -> Position:
    """Return the position in ``cursor``; raise ``BadInput`` where it isn't one of ours."""
    try:
        microseconds, job_id = _FORM.unpack(base64.b64decode(cursor, altchars=b"-_", validate=True))
        return Position(_EPOCH + microseconds * _MICROSECOND, UUID(bytes=job_id))
    except (binascii.Error, ValueError, struct.error, OverflowError) as error:
        raise BadInput("cursor is not one that a page came with.", field="cursor", malformed=True) from error
