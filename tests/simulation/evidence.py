"""Everything that is known after a day: what the database and the folder hold, what was asked, told and seen."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import msgspec
from sqlalchemy import Connection, func, select

from fluxx.adapters.sql.rollups import ALL_MINUTES
from fluxx.adapters.sql.rows import file_of, job_of, status_of
from fluxx.adapters.sql.tables import bus_message, file, job, job_status, metadata, outbox, rollup
from fluxx.messages import job_status as envelopes
from fluxx.model.deadlines import Limits
from fluxx.model.job import File, Job, JobStatus
from fluxx.telemetry import Fact
from simulation.desk import Desk
from simulation.plan import Plan
from simulation.played_extractor import Asked, PlayedExtractor
from simulation.stage import BEGINNING, Stage

NEW_EVENTS: Final = """
SELECT "BusMessageID", "MessageId", "OrderKey", "Body" FROM "BusMessage"
WHERE "BusMessageID" > ? AND "Topic" = 'job-status' ORDER BY "BusMessageID"
"""
COUNTED: Final = ("queued", "started", "succeeded", "failed", "unstarted", "polls", "retries")
JOB_NOW: Final = 'SELECT "Status", "ExtractorResponse", "ResultSha256" FROM "Job" WHERE "JobID" = ?'


class Published(msgspec.Struct, frozen=True):
    """An event as it stands on the topic. ``wrong`` says what couldn't be read at the moment it came there."""

    event: envelopes.Envelope
    message_id: str
    order_key: str | None
    wrong: str | None


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """One day, looked back on. ``broadcast`` holds the ids of every event sent off, in order, with repeats."""

    plan: Plan
    limits: Limits
    desk: Desk
    clear_at: datetime
    settled: bool
    fallen: list[str]
    jobs: dict[UUID, Job]
    histories: dict[UUID, list[JobStatus]]
    files: dict[UUID, File]
    published: list[Published]
    broadcast: list[UUID]
    unpublished: int
    inbox: list[str]
    dead: dict[str, str]
    asked: list[Asked]
    extractors: dict[str, PlayedExtractor]
    told: list[tuple[str, Fact, dict[str, Any]]]
    counts: dict[UUID, Counter[str]]
    texts: list[str]
    blobs: dict[str, bytes]
    trace: list[str]
    digest: str

    @property
    def lived(self) -> list[Job]:
        """The jobs of this day."""
        relics = {relic.job.job_id for relic in self.desk.relics}
        return [one for one in self.jobs.values() if one.job_id not in relics]

    def name(self, one: Job) -> str:
        """Return the name of the job's extractor."""
        return next(
            each.name for each in self.desk.registered if each.extractor_id == one.client_application_extractor_id
        )


class Witness:
    """Looks at the topic after every commit: what an event says must be true by then."""

    def __init__(self, stage: Stage) -> None:
        self.published: list[Published] = []
        self._stage = stage
        self._seen = 0

    def look(self) -> None:
        """Take note of the events that are new on the topic."""
        for number, message_id, order_key, body in self._stage.rows.execute(NEW_EVENTS, [self._seen]).fetchall():
            self._seen = number
            event = envelopes.decode(body)
            self._stage.trace.tell("topic", event.type, id=event.id, job=event.subject)
            self.published.append(Published(event, message_id, order_key, self._untrue(event)))

    def _untrue(self, event: envelopes.Envelope) -> str | None:
        row = self._stage.rows.execute(JOB_NOW, [event.subject]).fetchone()
        if row is None:
            return "there is no such job"
        if not event.type.endswith("JobSucceeded"):
            return None
        status, path, sha256 = row
        content = self._stage.blob(path) if path else None
        if status != "Succeeded" or content is None:
            return f"the job is {status} and its result is {'there' if content else 'missing'}"
        return None if hashlib.sha256(content).hexdigest() == sha256 else "the result is another one"


def gather(
    stage: Stage, desk: Desk, witness: Witness, *, clear_at: float, settled: bool, fallen: list[str]
) -> Evidence:
    """Look at everything."""
    with stage.engine.begin() as connection:
        jobs = [job_of(row) for row in connection.execute(select(job).order_by(job.c.CreatedAt, job.c.JobID))]
        lines = [status_of(row) for row in connection.execute(select(job_status).order_by(job_status.c.JobStatusID))]
        files = [file_of(row) for row in connection.execute(select(file))]
        waiting = select(func.count()).select_from(outbox).where(outbox.c.PublishedAt.is_(None))
        inbox = select(bus_message).where(bus_message.c.Topic == "accepted-file")
        letters = list(connection.execute(inbox))
        histories: dict[UUID, list[JobStatus]] = {one.job_id: [] for one in jobs}
        for line in lines:
            histories.setdefault(line.job_id, []).append(line)
        for one in jobs:
            stage.trace.tell(
                "end", one.status, job=one.job_id, message=one.status_message, lines=len(histories[one.job_id])
            )
        return Evidence(
            plan=stage.plan,
            limits=stage.settings.limits,
            desk=desk,
            clear_at=BEGINNING + timedelta(seconds=clear_at),
            settled=settled,
            fallen=fallen,
            jobs={one.job_id: one for one in jobs},
            histories=histories,
            files={one.file_id: one for one in files},
            published=witness.published,
            broadcast=stage.broadcast,
            unpublished=connection.scalar(waiting) or 0,
            inbox=[row.MessageId for row in letters if row.DeadLetterReason is None],
            dead={row.MessageId: row.DeadLetterReason for row in letters if row.DeadLetterReason},
            asked=stage.extractors.asked,
            extractors=stage.extractors.all,
            told=stage.told,
            counts=_counts(connection),
            texts=list(_texts(connection)),
            blobs=stage.blobs(),
            trace=stage.trace.lines,
            digest=stage.trace.digest(),
        )


def _counts(connection: Connection) -> dict[UUID, Counter[str]]:
    """Return what was counted for each extractor, all minutes together, without what is 0."""
    counts: dict[UUID, Counter[str]] = {}
    for row in connection.execute(select(rollup).where(rollup.c.Minute == ALL_MINUTES)):
        counted = counts.setdefault(row.ClientApplicationExtractorID, Counter())
        counted.update({name: row._mapping[name.capitalize()] for name in COUNTED})
    return {extractor_id: +counted for extractor_id, counted in counts.items()}


def _texts(connection: Connection) -> Iterator[str]:
    """Yield every text that is stored, but for messages on their way in: those are the platform's own."""
    for table in metadata.sorted_tables:
        for row in connection.execute(select(table)):
            cells = row._mapping
            if cells.get("Topic") != "accepted-file":
                yield from (str(cell) for cell in cells.values())
            else:
                yield str(cells["DeadLetterDescription"])
