"""Column types that mean the same on every database: ids and moments."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import DateTime, Dialect, String, TypeDecorator, Uuid
from sqlalchemy.dialects.mssql import DATETIMEOFFSET
from sqlalchemy.types import TypeEngine


class Id(TypeDecorator[UUID]):
    """A UUID: native where there is such a type, 36 readable characters on SQLite."""

    impl = Uuid
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Pick the column type."""
        return dialect.type_descriptor(String(36) if dialect.name == "sqlite" else Uuid())

    def process_bind_param(self, value: UUID | None, dialect: Dialect) -> Any:
        """Write the UUID as SQLite's text, or as it is."""
        return str(value) if value is not None and dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> UUID | None:  # noqa: ARG002 - the signature is SQLAlchemy's
        """Read back a UUID."""
        return UUID(value) if isinstance(value, str) else value


class Moment(TypeDecorator[datetime]):
    """An aware moment in UTC: DATETIMEOFFSET, TIMESTAMPTZ, or sortable ISO 8601 text on SQLite."""

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Pick the column type."""
        if dialect.name == "sqlite":
            return dialect.type_descriptor(String(32))
        if dialect.name == "mssql":
            return dialect.type_descriptor(DATETIMEOFFSET(6))  # type: ignore[no-untyped-call]
        return dialect.type_descriptor(DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """Write 32 characters of fixed width on SQLite, so that text order is time order."""
        if value is None or dialect.name != "sqlite":
            return value
        return value.astimezone(UTC).isoformat(timespec="microseconds")

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - the signature is SQLAlchemy's
        """Read back an aware moment in UTC."""
        if value is None:
            return None
        return (datetime.fromisoformat(value) if isinstance(value, str) else value).astimezone(UTC)
