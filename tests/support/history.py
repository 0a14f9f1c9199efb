"""A long history, made by the database itself: finished jobs with their files, lines and events, a million in minutes.

Jobs come three to a file, from three extractors of ten client applications, evenly over 300 days that
ended yesterday; ten of 500 failed. Every job has five lines and three published events.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec
import psycopg
from sqlalchemy import Engine, Table

from fluxx.adapters.sql.engine import dialect_of
from fluxx.adapters.sql.tables import file, job, job_status, outbox
from fluxx.messages.job_status import encode
from fluxx.model.job import Extractor
from fluxx.model.transitions import EventType, JobEvent

CLIENTS: Final = 10
JOBS_OF_A_FILE: Final = 3
LINES: Final = 5
EVENTS: Final = 3
DAYS: Final = 300
JOB, FILE = "8000", "9000"
"""What tells the kinds of made-up ids apart: the fourth group of their digits."""


class Words(msgspec.Struct, frozen=True):
    """How one dialect says it: so many numbers, an id of a moment, a moment (both from milliseconds)."""

    series: str
    some_id: str
    moment: str


WORDS: Final = {
    "postgresql": Words(
        "generate_series(0::bigint, {count} - 1) AS n(i)",
        "(lpad(to_hex({ms}), 12, '0') || '7000{kind}' || lpad(to_hex({number}), 12, '0'))::uuid",
        "to_timestamp(({ms}) / 1000.0)",
    ),
    "sqlite": Words(
        "(WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {count}) SELECT i FROM n) AS n",
        "printf('%08x-%04x-7000-{kind}-%012x', ({ms}) >> 16, ({ms}) & 65535, {number})",
        "strftime('%Y-%m-%dT%H:%M:%f000+00:00', ({ms}) / 1000.0, 'unixepoch')",
    ),
}


_NOBODY: Final = UUID(int=0)
BODY: Final = encode(
    JobEvent(
        event_id=_NOBODY,
        type=EventType.JOB_QUEUED,
        job_id=_NOBODY,
        file_id=_NOBODY,
        client_application_extractor_id=_NOBODY,
        timestamp=datetime(2026, 3, 1, tzinfo=UTC),
    )
)
"""Of every event: whoever reads one must be able to."""

UNOWNED_INDEXES: Final = """
SELECT i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid)
FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid JOIN pg_namespace AS s ON s.oid = c.relnamespace
WHERE s.nspname IN ('extractor', 'file') AND NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.conindid = i.indexrelid)
"""


class History:
    """The history of ``count`` finished jobs that ended before ``now``."""

    def __init__(self, engine: Engine, extractors: Sequence[Extractor], *, count: int, now: datetime) -> None:
        assert len(extractors) == CLIENTS * JOBS_OF_A_FILE
        self.count = count
        self._engine = engine
        self._words = WORDS[dialect_of(engine)]
        self._extractors = extractors
        self._step = int(timedelta(days=DAYS) / timedelta(milliseconds=1)) // max(count, 1)
        self._base = int(now.timestamp() * 1000) - 86_400_000 - self._step * count

    def job_id(self, number: int) -> UUID:
        """Return the id of a job, 0 being the oldest."""
        return _id(self._base + number * self._step, JOB, number)

    def file_id(self, number: int) -> UUID:
        """Return the id of the file that job worked on."""
        first = number // JOBS_OF_A_FILE * JOBS_OF_A_FILE
        return _id(self._base + first * self._step, FILE, first)

    def fill(self) -> None:
        """Write it all, indexes last, which is much quicker. Foreign keys hold, but are not looked at."""
        if dialect_of(self._engine) == "sqlite":
            self._fill_sqlite()
        else:
            self._fill_postgresql()

    def _fill_sqlite(self) -> None:
        with closing(sqlite3.connect(self._engine.url.database or "", isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("PRAGMA cache_size = -200000")
            connection.execute("BEGIN IMMEDIATE")
            indexes = connection.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql > ''"
            ).fetchall()
            for name, _ in indexes:
                connection.execute(f'DROP INDEX "{name}"')
            for statement in (*self._statements(), *(made for _, made in indexes)):
                connection.execute(statement)
            connection.execute("COMMIT")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _fill_postgresql(self) -> None:
        with closing(psycopg.connect(_plain(self._engine), autocommit=True)) as connection:
            connection.execute("SET session_replication_role = replica")
            connection.execute("SET maintenance_work_mem = '256MB'")
            indexes = connection.execute(UNOWNED_INDEXES).fetchall()
            for name, _ in indexes:
                connection.execute(f"DROP INDEX {name}")
            for statement in (*self._statements(), *(made for _, made in indexes)):
                connection.execute(statement)
            connection.execute("VACUUM ANALYZE")

    def _statements(self) -> Sequence[str]:
        return self._files(), self._jobs(), self._lines(), self._events()

    def _files(self) -> str:
        ms, first = f"{self._base} + n.i * {JOBS_OF_A_FILE * self._step}", f"n.i * {JOBS_OF_A_FILE}"
        columns = {
            "FileID": self._id(ms, FILE, first),
            "ClientApplicationId": self._client(f"n.i % {CLIENTS}"),
            "FileName": "'made-up.pdf'",
            "ContentType": "'application/pdf'",
            "BlobPath": "'files/made-up'",
            "IsRemote": "false",
            "CreatedAt": self._moment(ms),
        }
        return self._insert(file, columns, count=-(-self.count // JOBS_OF_A_FILE))

    def _jobs(self) -> str:
        ms, first = self._ms("n.i"), f"(n.i - n.i % {JOBS_OF_A_FILE})"
        client = f"(n.i / {JOBS_OF_A_FILE}) % {CLIENTS}"
        status = "CASE WHEN n.i / 10 % 50 = 0 THEN 'Failed' ELSE 'Succeeded' END"
        columns = {
            "JobID": self._id(ms, JOB, "n.i"),
            "FileId": self._id(self._ms(first), FILE, first),
            "ClientApplicationId": self._client(client),
            "ClientApplicationExtractorID": self._extractor(f"({client}) * {JOBS_OF_A_FILE} + n.i % {JOBS_OF_A_FILE}"),
            "Status": status,
            "StatusMessage": "'Result of 4096 bytes stored.'",
            "ExtractorResponse": "'results/made-up/result.json'",
            "PollAttemptCount": "3",
            "IsActive": "true",
            "ErrorCount": "0",
            "IdempotencyKey": "'accepted'",
            "CreatedAt": self._moment(ms),
            "UpdatedAt": self._moment(f"{ms} + 30000"),
            "CompletedAt": self._moment(f"{ms} + 30000"),
            "DeadlineAt": self._moment(f"{ms} + 3600000"),
        }
        return self._insert(job, columns, count=self.count)

    def _lines(self) -> str:
        columns = {
            "JobID": '"JobID"',
            "Status": f"""CASE n.i WHEN 0 THEN 'Queued' WHEN {LINES - 1} THEN "Status" ELSE 'Started' END""",
            "Message": "'Not ready at poll 1.'",
            "AttemptNumber": "n.i",
            "Timestamp": '"CreatedAt"',
        }
        return self._insert_for_each_job(job_status, columns, count=LINES)

    def _events(self) -> str:
        event_id = 'substr(CAST("JobID" AS VARCHAR(36)), 1, 35) || n.i'
        columns = {
            "EventId": f"({event_id}){self._cast}",  # the moment in an id makes it unique already
            "JobID": '"JobID"',
            "Body": f"'{BODY.decode()}'",
            "CreatedAt": '"CreatedAt"',
            "PublishedAt": '"CompletedAt"',
        }
        return self._insert_for_each_job(outbox, columns, count=EVENTS)

    def _ms(self, number: str) -> str:
        return f"{self._base} + {number} * {self._step}"

    def _id(self, ms: str, kind: str, number: str) -> str:
        return self._words.some_id.format(ms=ms, kind=kind, number=number)

    def _moment(self, ms: str) -> str:
        return self._words.moment.format(ms=ms)

    def _client(self, number: str) -> str:
        ids = [one.client_application_id for one in self._extractors[::JOBS_OF_A_FILE]]
        return self._choice(number, ids)

    def _extractor(self, number: str) -> str:
        return self._choice(number, [one.client_application_extractor_id for one in self._extractors])

    def _choice(self, number: str, ids: Sequence[UUID]) -> str:
        cases = " ".join(f"WHEN {place} THEN '{one}'{self._cast}" for place, one in enumerate(ids))
        return f"CASE {number} {cases} END"

    @property
    def _cast(self) -> str:
        return "::uuid" if dialect_of(self._engine) == "postgresql" else ""

    def _insert(self, table: Table, columns: dict[str, str], *, count: int) -> str:
        return self._into(table, columns) + f" FROM {self._words.series.format(count=count)}"

    def _insert_for_each_job(self, table: Table, columns: dict[str, str], *, count: int) -> str:
        each = f"{self._name(job)} CROSS JOIN {self._words.series.format(count=count)}"
        return self._into(table, columns) + f' FROM {each} ORDER BY "JobID", n.i'

    def _into(self, table: Table, columns: dict[str, str]) -> str:
        names, values = ", ".join(f'"{name}"' for name in columns), ", ".join(columns.values())
        return f"INSERT INTO {self._name(table)} ({names}) SELECT {values}"

    def _name(self, table: Table) -> str:
        return f'"{table.schema}"."{table.name}"' if self._cast else f'"{table.name}"'


def _id(ms: int, kind: str, number: int) -> UUID:
    return UUID(f"{ms:012x}7000{kind}{number:012x}")


def _plain(engine: Engine) -> str:
    return engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
