"""What a database's error means for the caller: try again, give up for now, or leave that row out.

Asked by ``Connections`` and by the stores. PostgreSQL speaks in SQLSTATEs, SQLite in numbers, SQL
Server's driver in words; no message is read that a server could have translated.
"""

from typing import Final, TypeAlias

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout

Trouble: TypeAlias = DBAPIError | PoolTimeout
TROUBLES: Final = (DBAPIError, PoolTimeout)

OURS: Final = (IntegrityError, DataError)
"""Faults of what was to be written. SQL Server's driver calls much else a ProgrammingError, full servers included."""

AGAIN_STATES: Final = frozenset({"40001", "40P01", "55P03"})
"""PostgreSQL: serialization failure, deadlock victim, lock not available (Appendix A of its manual)."""

AGAIN_CODES: Final = frozenset({5, 6})
"""SQLite: SQLITE_BUSY and SQLITE_LOCKED; the extended codes keep them in their low byte."""

AGAIN_WORDS: Final = frozenset({"Serialization failure"})
"""SQL Server: what mssql-python makes of SQLSTATE 40001, which error 1205 (deadlock victim) comes with."""


def asks_for_another_try(error: Trouble) -> bool:
    """Whether the same transaction may well succeed now: a deadlock's victim, a busy file, a stale connection."""
    if isinstance(error, PoolTimeout):
        return False  # it has waited long enough
    cause = error.orig
    return (
        is_gone(error)
        or getattr(cause, "sqlstate", None) in AGAIN_STATES
        or is_busy(cause)
        or getattr(cause, "driver_error", None) in AGAIN_WORDS
    )


def is_busy(cause: BaseException | None) -> bool:
    """Whether SQLite itself says that somebody else has the file just now."""
    return getattr(cause, "sqlite_errorcode", 0) & 0xFF in AGAIN_CODES


def is_gone(error: Trouble) -> bool:
    """Whether an open connection broke; the pool has been emptied, and the next one is fresh."""
    return isinstance(error, DBAPIError) and error.connection_invalidated


def is_ours(error: Trouble) -> bool:
    """Whether the fault lies in what was to be written: it would fail again."""
    return isinstance(error, OURS) and not is_gone(error)


def misses_a_parent(error: IntegrityError) -> bool:
    """Whether a row names one that doesn't exist; otherwise its key exists already.

    All our foreign keys are named ``FK_…``; SQLite doesn't say which one it was.
    """
    words = str(error.orig)
    return "FK_" in words or "FOREIGN KEY" in words


def first_line(error: Trouble) -> str:
    """Return the driver's own words in one line, without the statement and its parameters."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return (str(cause).strip().splitlines() or [type(cause).__name__])[0]
