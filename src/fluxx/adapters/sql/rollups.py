"""Adds what transitions count to the rollups, last in the transaction that writes the transitions.

Called by ``writing``. A group's transitions are summed first, so that a group costs two rows for each
extractor in it: its minute, and the one that stands for all minutes. Rows are written in key order.
Each process has a slot of its own, more or less: two of them hardly ever wait for the same row.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from operator import itemgetter
from typing import Any, Final, TypeAlias
from uuid import UUID, uuid4

from sqlalchemy import Connection, bindparam, insert, update

from fluxx.adapters.sql.bulk import Values, inserting
from fluxx.adapters.sql.tables import rollup
from fluxx.model.counts import NO_TIMES, change_of
from fluxx.model.transitions import Transition

ALL_MINUTES: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""The minute of the row that sums up all others."""

MINUTE: Final = timedelta(minutes=1)
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
        return self._add(
            [
                (minute, UUID(int=extractor), self._slot, *(change.get(name, 0) for name in NAMES))
                for (minute, extractor), change in sorted(_sums(transitions).items(), key=itemgetter(0))
            ]
        )


def _sums(transitions: Sequence[Transition]) -> dict[tuple[datetime, int], dict[str, int]]:
    """Return what each minute and extractor (the number that its id is) is to grow by, and all minutes together."""
    sums: dict[tuple[datetime, int], dict[str, int]] = {}
    minute = over = ALL_MINUTES
    for one in transitions:
        if not minute <= (moment := one.job.updated_at) < over:  # taking a moment apart costs as much as all else here
            minute = moment.replace(second=0, microsecond=0)
            over = minute + MINUTE
        _add(sums.setdefault((minute, one.job.client_application_extractor_id.int), {}), change_of(one.before, one.job))
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
