"""The stores over one database, as one process sees them, with a clock that jumps and rows to work on."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from sqlalchemy import Engine, delete
from uuid_utils.compat import uuid7

from fluxx.adapters.sql.database import SqlDatabase
from fluxx.adapters.sql.engine import make_engine
from fluxx.adapters.sql.tables import metadata
from fluxx.clock import SystemClock
from fluxx.model import transitions
from fluxx.model.deadlines import Limits
from fluxx.model.job import ClientApplication, Extractor, File, Job, Status
from fluxx.model.keeping import Keep
from fluxx.model.outcome import Outcome
from fluxx.model.transitions import Transition
from fluxx.ports.jobs import Acceptance
from fluxx.telemetry import Facts

LEASE = 60.0
LIMITS = Limits()


class JumpingClock:
    """The machine's clock, ahead by what tests add."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return SystemClock().now() + self.ahead

    def jump(self, seconds: float) -> None:
        self.ahead += timedelta(seconds=seconds)


class StoresWorld:
    """One process's stores, and ``another`` process's beside it."""

    def __init__(self, url: str, engine: Engine, database: SqlDatabase, clock: JumpingClock) -> None:
        self.url = url
        self.engine = engine
        self.clock = clock
        self.database = database
        self.jobs = database.jobs
        self.reader = database.reader
        self.outbox = database.outbox
        self.retention = database.retention
        self.observer = database.observer
        self.changes = database.changes
        self.presence = database.presence
        self.registrations = database.registrations
        self.files = database.files

    @asynccontextmanager
    async def another(self) -> AsyncIterator[SqlDatabase]:
        """Open the database as another process would: with connections of its own."""
        async with SqlDatabase(make_engine(self.url), clock=self.clock, facts=Facts(), threads=2) as database:
            yield database

    async def client_application(self) -> ClientApplication:
        """Register a client application."""
        made = ClientApplication(
            client_application_id=uuid7(), name="Invoices", is_active=True, created_at=self.clock.now()
        )
        await self.registrations.add_client_application(made)
        return made

    async def extractor(self, client: ClientApplication | None = None, *, is_active: bool = True) -> Extractor:
        """Register an extractor, of a client application of its own unless one is given."""
        owner = client or await self.client_application()
        made = Extractor(
            client_application_extractor_id=uuid7(),
            client_application_id=owner.client_application_id,
            name="ocr",
            extraction_url="https://ocr.example/extract",
            polling_url=None,
            is_active=is_active,
            created_at=self.clock.now(),
        )
        await self.registrations.add_extractor(made)
        return made

    def new_file(self, extractor: Extractor) -> File:
        """Return a file of the extractor's client application that nobody stored yet."""
        file_id = uuid4()
        return File(
            file_id=file_id,
            client_application_id=extractor.client_application_id,
            file_name="Rechnung 発注書.pdf",
            content_type="application/pdf",
            size=2**40,
            sha256="0" * 64,
            blob_path=f"files/{extractor.client_application_id}/{file_id}/content",
            is_remote=False,
            created_at=self.clock.now(),
        )

    async def file(self, extractor: Extractor) -> File:
        """Store a file."""
        made = self.new_file(extractor)
        await self.files.add_file(made)
        return made

    def new_job(self, file: File, extractor: Extractor, *, key: str = "accepted", due_in: float = 0.0) -> Job:
        """Return a job that nobody accepted yet."""
        now = self.clock.now()
        return Job(
            job_id=uuid7(),
            file_id=file.file_id,
            client_application_id=file.client_application_id,
            client_application_extractor_id=extractor.client_application_extractor_id,
            status=Status.QUEUED,
            status_message=None,
            created_at=now,
            updated_at=now,
            deadline_at=now + timedelta(hours=1),
            due_at=now + timedelta(seconds=due_in),
            idempotency_key=key,
        )

    async def accepted(self, *jobs: Job) -> Sequence[Job]:
        """Accept jobs that are new."""
        return (await self.jobs.accept(acceptance(*jobs))).new

    async def queued(self, count: int, extractor: Extractor | None = None) -> Sequence[Job]:
        """Queue ``count`` due jobs, each longer due than the next."""
        worker = extractor or await self.extractor()
        file = await self.file(worker)
        late = [self.new_job(file, worker, key=f"{number}", due_in=number - count) for number in range(count)]
        return await self.accepted(*late)

    async def claimed(self, extractor: Extractor | None = None) -> Job:
        """Queue a job and claim it."""
        [job] = await self.queued(1, extractor)
        return await self.jobs.seize(job.job_id, lease=LEASE)

    async def happened(self, job: Job, *outcomes: Outcome) -> Job:
        """Let ``outcomes`` happen to the job, one claim each; return its last row."""
        for outcome in outcomes:
            transition = self.transition(await self.jobs.seize(job.job_id, lease=LEASE), outcome)
            assert await self.jobs.apply(transition)
            job = transition.job
        return job

    def transition(self, claimed: Job, outcome: Outcome, *, keep: Keep | None = None) -> Transition:
        """Return what ``outcome`` means for a claimed job now."""
        return transitions.apply(claimed, outcome, now=self.clock.now(), limits=LIMITS, keep=keep)

    async def events(self, *job_ids: UUID) -> list[str]:
        """Return the types of the unpublished events of the jobs, in the order of their publishing."""
        keys = {str(job_id) for job_id in job_ids}
        waiting = await self.outbox.unpublished(limit=10_000)
        return [_type(one.body) for one in waiting if one.order_key in keys]


def _type(body: bytes) -> str:
    return body.split(b"fluxx.extractor.")[1].split(b'"')[0].decode()


def acceptance(*jobs: Job, file: File | None = None) -> Acceptance:
    """Return what a message asks for that ends in these jobs."""
    return Acceptance(jobs[0].file_id, tuple(transitions.queue(job) for job in jobs), file)


@asynccontextmanager
async def opened_stores(url: str) -> AsyncIterator[StoresWorld]:
    """Open the stores of a database that other tests have used, without what they left."""
    engine = make_engine(url)
    with engine.begin() as connection:
        for table in reversed(metadata.sorted_tables):
            connection.execute(delete(table))
    clock = JumpingClock()
    async with SqlDatabase(engine, clock=clock, facts=Facts()) as database:
        yield StoresWorld(url, engine, database, clock)
