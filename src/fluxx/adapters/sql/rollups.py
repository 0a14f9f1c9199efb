"""Adds what transitions count to the rollups, last in the transaction that writes the transitions.

Called by ``writing``. A group's transitions are summed first, so that a group costs two rows for each
extractor in it: its minute, and the one that stands for all minutes. Rows are written in key order.
Each process has a slot of its own, more or less: two of them hardly ever wait for the same row.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, TypeAlias
from uuid import UUID, uuid4

from sqlalchemy import Connection, bindparam, insert, update

from fluxx.adapters.sql.bulk import Values, inserting
from fluxx.adapters.sql.tables import rollup
from fluxx.model.counts import NO_TIMES, change_of
from fluxx.model.transitions import Transition

ALL_MINUTES: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""The minute of the row that sums up all others."""

SLOTS: Final = 16
KEY: Final = ("Minute", "ClientApplicationExtractorID", "Slot")
NAMES: Final = (
    "queued",
    "started",
    "succeeded",
    "failed",
    "unstarted",
    "polls",
    "retries",
    "milliseconds",
    *(f"times{place}" for place in range(len(NO_TIMES))),
)
"""The columns that count, as ``model.counts`` names them."""

COLUMNS: Final = tuple(name.capitalize() for name in NAMES)

Adding: TypeAlias = Callable[[Sequence[Values]], Callable[[Connection], object]]


class Rollups:
    """Adds to the rollups of one dialect."""

    def __init__(self, dialect: str) -> None:
        self._slot = uuid4().int % SLOTS
        self._add = _adding(dialect)

    def counting(self, transitions: Sequence[Transition]) -> Callable[[Connection], object]:
        """Return what adds what the transitions count."""
        sums = _sums(transitions)
        return self._add([(*key, self._slot, *(sums[key].get(name, 0) for name in NAMES)) for key in sorted(sums)])


def _sums(transitions: Sequence[Transition]) -> dict[tuple[datetime, UUID], dict[str, int]]:
    """Return what each minute and extractor is to grow by, and all minutes together."""
    sums: dict[tuple[datetime, UUID], dict[str, int]] = {}
    for one in transitions:
        minute = one.job.updated_at.replace(second=0, microsecond=0)
        _add(sums.setdefault((minute, one.job.client_application_extractor_id), {}), change_of(one.before, one.job))
    for (_, extractor), change in tuple(sums.items()):
        _add(sums.setdefault((ALL_MINUTES, extractor), {}), change)
    return sums


def _add(numbers: dict[str, int], change: dict[str, int]) -> None:
    for name, number in change.items():
        numbers[name] = numbers.get(name, 0) + number


def _adding(dialect: str) -> Adding:
    """Return what adds rows of key and numbers to those that are there, or inserts them."""
    if dialect in ("sqlite", "postgresql"):
        sums = ", ".join(f'"{name}" = "Rollup"."{name}" + excluded."{name}"' for name in COLUMNS)
        keys = ", ".join(f'"{name}"' for name in KEY)
        return inserting(rollup, [*KEY, *COLUMNS], dialect, otherwise=f"ON CONFLICT ({keys}) DO UPDATE SET {sums}")
    return lambda rows: partial(_add_singly, rows)


_ADDING: Final = (
    update(rollup)
    # The key's place stays locked where there is no row yet: nobody else inserts it meanwhile.
    .with_hint("WITH (UPDLOCK, SERIALIZABLE)", dialect_name="mssql")
    .where(*(rollup.c[name] == bindparam(f"key_{name}") for name in KEY))
    .values({name: rollup.c[name] + bindparam(f"add_{name}") for name in COLUMNS})
)


def _add_singly(rows: Sequence[Values], connection: Connection) -> None:
    for row in rows:
        key, numbers = dict(zip(KEY, row, strict=False)), dict(zip(COLUMNS, row[len(KEY) :], strict=True))
        added: dict[str, Any] = {f"key_{name}": value for name, value in key.items()}
        added |= {f"add_{name}": value for name, value in numbers.items()}
        if connection.execute(_ADDING, added).rowcount == 0:
            connection.execute(insert(rollup), key | numbers)
