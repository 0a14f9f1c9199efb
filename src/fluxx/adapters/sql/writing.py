"""What a transaction writes of transitions: jobs, then their history, their events and the rollups, in bulk.

Used by ``accepting`` (new jobs) and ``jobs`` (changed ones), always in this order of tables.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from sqlalchemy import Connection

from fluxx.adapters.sql.bulk import COUNTING, Values, inserting, updating
from fluxx.adapters.sql.rollups import Rollups
from fluxx.adapters.sql.rows import JOB_COLUMNS
from fluxx.adapters.sql.tables import job, job_status, outbox
from fluxx.messages import job_status as messages
from fluxx.model.transitions import JobEvent, Transition

LIVING: Final = (
    "status.value",
    "status_message",
    "updated_at",
    "due_at",
    "poll_attempt_count",
    "last_poll_attempt_at",
    "error_count",
)
"""The fields of a job that a transition can change while the job lives on. Its claim is over in any case."""

CHANGING: Final = (*LIVING, "extractor_response", "result_size", "result_sha256", "completed_at")
"""The fields of a job that a transition can change."""

HISTORY: Final = {
    "job_id": "JobID",
    "status.value": "Status",
    "message": "Message",
    "attempt_number": "AttemptNumber",
    "timestamp": "Timestamp",
}
EVENT: Final = ("EventId", "JobID", "Body", "TraceContext", "CreatedAt")

_new_row: Final = attrgetter(*("status.value" if field == "status" else field for field in JOB_COLUMNS))
_living_row: Final = attrgetter(*LIVING, "job_id")
_changed_row: Final = attrgetter(*CHANGING, "job_id")
_history_row: Final = attrgetter(*HISTORY)


class ClaimsLost(Exception):
    """Not every claim named in a group is still held: nothing of it may be kept."""


class Writing:
    """The prepared statements of one dialect. ``counts`` says that it notices lost claims by itself."""

    def __init__(self, dialect: str) -> None:
        self.counts = dialect in COUNTING
        self._add_jobs = inserting(job, list(JOB_COLUMNS.values()), dialect)
        self._change_living = updating(job, _columns(LIVING), dialect)
        self._change_jobs = updating(job, _columns(CHANGING), dialect)
        self._add_history = inserting(job_status, list(HISTORY.values()), dialect)
        self._add_events = inserting(outbox, EVENT, dialect)
        self._rollups = Rollups(dialect)

    def add(self, connection: Connection, transitions: Sequence[Transition]) -> None:
        """Insert new jobs with what their transitions tell."""
        self._add_jobs(connection, [_new_row(one.job) for one in transitions])
        self._tell(connection, transitions)

    def change(self, connection: Connection, transitions: Sequence[Transition]) -> None:
        """Update jobs, fenced by their claims, and write what their transitions tell.

        Raises ``ClaimsLost`` where it ``counts``; the caller rolls back.
        """
        if all(one.job.due_at for one in transitions):  # nearly every poll: half of the columns are as they were
            change, row_of = self._change_living, _living_row
        else:
            change, row_of = self._change_jobs, _changed_row
        rows = [(*row_of(one.job), one.claim_token) for one in transitions]
        if change(connection, rows).rowcount != len(rows) and self.counts:
            raise ClaimsLost
        self._tell(connection, transitions)

    def _tell(self, connection: Connection, transitions: Sequence[Transition]) -> None:
        self._add_history(connection, [_history_row(line) for one in transitions for line in one.history])
        events = [_event_row(event) for one in transitions for event in one.events]
        if events:
            self._add_events(connection, events)
        self._rollups.count(connection, transitions)


def _columns(fields: Sequence[str]) -> Sequence[str]:
    return [JOB_COLUMNS[field.removesuffix(".value")] for field in fields]


def _event_row(event: JobEvent) -> Values:
    body = messages.encode(event).decode()
    return event.event_id, event.job_id, body, event.trace_context, event.timestamp
