"""What a transaction writes of transitions: jobs, then their history, their events and the rollups, in bulk.

Used by ``accepting`` (new jobs) and ``jobs`` (changed ones), always in this order of tables. What is to be written is
made ready first, and then needs only a connection (see ``bulk``).
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Final, TypeAlias

from sqlalchemy import Connection

from fluxx.adapters.sql.bulk import COUNTING, Values, inserting, updating
from fluxx.adapters.sql.rollups import Rollups
from fluxx.adapters.sql.rows import JOB_COLUMNS
from fluxx.adapters.sql.tables import job, job_status, outbox
from fluxx.messages import job_status as messages
from fluxx.model.transitions import JobEvent, Transition
from fluxx.ports.jobs import Claim

STAYING: Final = (
    "status_message",
    "updated_at",
    "due_at",
    "poll_attempt_count",
    "last_poll_attempt_at",
    "error_count",
    "claim_token",
)
"""The fields of a job that a transition can change while its status stays."""

CHANGING: Final = ("status", *STAYING, "extractor_response", "result_size", "result_sha256", "completed_at")
"""The fields of a job that a transition can change."""

HISTORY: Final = {
    "job_id": "JobID",
    "status": "Status",
    "message": "Message",
    "attempt_number": "AttemptNumber",
    "timestamp": "Timestamp",
}
EVENT: Final = ("EventId", "JobID", "Body", "TraceContext", "CreatedAt")

_new_row: Final = attrgetter(*JOB_COLUMNS)
_staying_row: Final = attrgetter(*STAYING, "job_id")
_changed_row: Final = attrgetter(*CHANGING, "job_id")
_history_row: Final = attrgetter(*HISTORY)


Write: TypeAlias = Callable[[Connection], None]


class ClaimsLost(Exception):
    """Not every claim named in a group is still held: nothing of it may be kept."""


class Writing:
    """The prepared statements of one dialect. ``counts`` says that it notices lost claims by itself."""

    def __init__(self, dialect: str) -> None:
        self.counts = dialect in COUNTING
        self._add_jobs = inserting(job, list(JOB_COLUMNS.values()), dialect)
        self._change_staying = updating(job, _columns(STAYING), dialect)
        self._change_jobs = updating(job, _columns(CHANGING), dialect)
        self._release = updating(job, ("DueAt", "ClaimToken"), dialect)
        self._add_history = inserting(job_status, list(HISTORY.values()), dialect)
        self._add_events = inserting(outbox, EVENT, dialect)
        self._rollups = Rollups(dialect)

    def adding(self, transitions: Sequence[Transition]) -> Write:
        """Return what inserts new jobs with what their transitions tell."""
        jobs, told = self._add_jobs([_new_row(one.job) for one in transitions]), self._telling(transitions)

        def write(connection: Connection) -> None:
            jobs(connection)
            told(connection)

        return write

    def changing(self, transitions: Sequence[Transition]) -> Write:
        """Return what updates jobs, fenced by their claims, and writes what their transitions tell.

        It raises ``ClaimsLost`` where it ``counts``; the caller rolls back.
        """
        if all(one.before is not None and one.job.status is one.before.status for one in transitions):
            # Nearly every poll. Half of the columns are as they were, and no index of a status need be looked at.
            change, row_of = self._change_staying, _staying_row
        else:
            change, row_of = self._change_jobs, _changed_row
        jobs = change([(*row_of(one.job), one.claim_token) for one in transitions])
        told = self._telling(transitions)

        def write(connection: Connection) -> None:
            if jobs(connection).rowcount != len(transitions) and self.counts:
                raise ClaimsLost
            told(connection)

        return write

    def releasing(self, claims: Sequence[tuple[Claim, datetime]]) -> Write:
        """Return what lets jobs fall due at the given times, as far as the claims are still held."""
        released = self._release([(due_at, None, claim.job_id, claim.claim_token) for claim, due_at in claims])

        def write(connection: Connection) -> None:
            released(connection)

        return write

    def _telling(self, transitions: Sequence[Transition]) -> Write:
        parts = [self._add_history([_history_row(line) for one in transitions for line in one.history])]
        if events := [_event_row(event) for one in transitions for event in one.events]:
            parts.append(self._add_events(events))
        counted = self._rollups.counting(transitions)

        def write(connection: Connection) -> None:
            for part in parts:
                part(connection)
            counted(connection)

        return write


def _columns(fields: Sequence[str]) -> Sequence[str]:
    return [JOB_COLUMNS[field] for field in fields]


def _event_row(event: JobEvent) -> Values:
    body = messages.encode(event).decode()
    return event.event_id, event.job_id, body, event.trace_context, event.timestamp
