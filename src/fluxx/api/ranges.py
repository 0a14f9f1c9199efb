"""Byte ranges and validators of a stored blob (RFC 9110, 13 and 14). Pure."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import msgspec

_RANGE: Final = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


class Selection(msgspec.Struct, frozen=True):
    """What to send: ``status`` 200, 206, 304 or 416, and the bytes from ``start`` to before ``end``."""

    status: HTTPStatus
    start: int
    end: int


def select(headers: Mapping[str, str], *, size: int, etag: str) -> Selection:
    """Return what a GET with these ``headers`` gets of a blob of ``size`` bytes.

    One range is served; several, or a range of another form, are passed over as the RFC allows.
    """
    if _matches(headers.get("if-none-match", ""), etag):
        return Selection(HTTPStatus.NOT_MODIFIED, 0, 0)
    if headers.get("if-range", etag) != etag:
        return Selection(HTTPStatus.OK, 0, size)
    return _ranged(headers.get("range", ""), size)


def _matches(tags: str, etag: str) -> bool:
    return any(tag.strip().removeprefix("W/") in (etag, "*") for tag in tags.split(","))


def _ranged(wanted: str, size: int) -> Selection:
    parsed = _RANGE.fullmatch(wanted.replace(" ", ""))
    if parsed is None or parsed.groups() == ("", ""):
        return Selection(HTTPStatus.OK, 0, size)
    first, last = parsed.groups()
    start = int(first) if first else max(0, size - int(last))
    end = min(size, int(last) + 1) if first and last else size
    if first and last and int(last) < int(first):
        return Selection(HTTPStatus.OK, 0, size)
    if start >= end:
        return Selection(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, 0, 0)
    return Selection(HTTPStatus.PARTIAL_CONTENT, start, end)
