"""Column types that mean the same on every database: ids and moments.

They hand SQLAlchemy plain functions, which it calls once a value and nothing around them.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, TypeAlias
from uuid import UUID

import msgspec
from sqlalchemy import DateTime, Dialect, String, TypeDecorator, Uuid
from sqlalchemy.dialects.mssql import DATETIMEOFFSET
from sqlalchemy.types import TypeEngine

SAME_MOMENTS: Final = 1000
"""Texts kept: a transition's moment stands in four columns, and its text is made for the first of them."""

Processor: TypeAlias = Callable[[Any], Any]


class Id(TypeDecorator[UUID]):
    """A UUID: native where there is such a type, 36 readable characters on SQLite."""

    impl = Uuid
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Pick the column type."""
        return dialect.type_descriptor(String(36) if dialect.name == "sqlite" else Uuid())

    def bind_processor(self, dialect: Dialect) -> Processor | None:
        """Write SQLite's text."""
        return _id_to_text if dialect.name == "sqlite" else super().bind_processor(dialect)

    def result_processor(self, dialect: Dialect, coltype: object) -> Processor | None:
        """Read SQLite's text."""
        return _id_from_text if dialect.name == "sqlite" else super().result_processor(dialect, coltype)


class Moment(TypeDecorator[datetime]):
    """An aware moment in UTC: DATETIMEOFFSET, TIMESTAMPTZ, or 32 characters of sortable ISO 8601 on SQLite."""

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Pick the column type."""
        if dialect.name == "sqlite":
            return dialect.type_descriptor(String(32))
        if dialect.name == "mssql":
            return dialect.type_descriptor(DATETIMEOFFSET(6))  # type: ignore[no-untyped-call]
        return dialect.type_descriptor(DateTime(timezone=True))

    def bind_processor(self, dialect: Dialect) -> Processor | None:
        """Write SQLite's text."""
        return moment_to_text if dialect.name == "sqlite" else super().bind_processor(dialect)

    def result_processor(self, dialect: Dialect, coltype: object) -> Processor | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Read SQLite's text; elsewhere the driver's datetime, in UTC."""
        return _moment_from_text if dialect.name == "sqlite" else _in_utc


_ids: Final = msgspec.json.Decoder(UUID)
"""Takes a quarter of the time that ``UUID`` takes for a text."""


def _id_to_text(value: UUID | None) -> str | None:
    """Return an id as SQLite keeps it."""
    return None if value is None else str(value)


def _id_from_text(value: str | None) -> UUID | None:
    return None if value is None else _ids.decode(f'"{value}"')


@lru_cache(SAME_MOMENTS)
def moment_to_text(value: datetime | None) -> str | None:
    """Return a moment as SQLite keeps it: all of the same length, so that text sorts as time."""
    if value is None:
        return None
    # Nearly all are in UTC already. msgspec takes a tenth of isoformat's time; it leaves out a fraction of nothing.
    text = msgspec.to_builtins(value if value.tzinfo is UTC else value.astimezone(UTC)).removesuffix("Z")
    return f"{text}+00:00" if value.microsecond else f"{text}.000000+00:00"


def _moment_from_text(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)


def _in_utc(value: datetime | None) -> datetime | None:
    return None if value is None else value.astimezone(UTC)
