"""How long an extractor asks us to wait, in every form that such services use. Pure.

Called by ``answers``. A wish that can't be understood is no wish: the answer stays usable.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

LONGEST: Final = 366 * 86400.0
"""Seconds: what an enormous wish is cut to. A job's deadline is far nearer; this keeps the number finite."""

EPOCH_FROM: Final = 1e9
"""``X-RateLimit-Reset`` is a moment (seconds since 1970) from this value on, and a duration below it."""

_LIMITED: Final = HTTPStatus.TOO_MANY_REQUESTS
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)", re.ASCII)


def wish(headers: Mapping[str, str], *, status: int, now: datetime) -> float | None:
    """Return the seconds to wait that the headers (lower-case names) ask for, within 0 and ``LONGEST``.

    ``retry-after-ms`` (Azure's services) is finer than ``Retry-After`` (RFC 9110 §10.2.3) and goes first.
    ``X-RateLimit-Reset`` is sent with good answers as well, so it counts only where one was limited (429).
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return bounded(milliseconds / 1000)
    seconds = text_wish(headers.get("retry-after"), now=now)
    if seconds is None and status == _LIMITED:
        return _reset(_number(headers.get("x-ratelimit-reset")), now)
    return seconds


def text_wish(text: str | None, *, now: datetime) -> float | None:
    """Return the seconds that a ``Retry-After`` value means: seconds, decimals or an HTTP date."""
    if text is None:
        return None
    seconds = _number(text)
    return bounded(_until(text, now) if seconds is None else seconds)


def body_wish(value: object, *, now: datetime) -> float | None:
    """Return the seconds that a body's ``retryAfter`` means: a number, or text as in the header."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return bounded(value)
    return text_wish(value, now=now) if isinstance(value, str) else None


def bounded(seconds: float | None) -> float | None:
    """Return ``seconds`` within 0 and ``LONGEST``; None and not-a-number are no wish."""
    if seconds is None or seconds != seconds:  # noqa: PLR0124 - only NaN differs from itself
        return None
    return float(min(max(seconds, 0), LONGEST))


def _number(text: str | None) -> float | None:
    # Not float(text) alone: that takes "nan", "1_000" and other alphabets' digits.
    return float(text) if text is not None and _NUMBER.fullmatch(text := text.strip()) else None


def _until(text: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return (moment - now).total_seconds()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _reset(value: float | None, now: datetime) -> float | None:
    if value is None:
        return None
    if value >= EPOCH_FROM * 1000:
        value /= 1000
    return bounded(value - now.timestamp() if value >= EPOCH_FROM else value)
