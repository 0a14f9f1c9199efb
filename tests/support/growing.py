"""A database with a history behind it, and what is asked of it all the time: for plans and for measuring growth."""

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from msgspec.structs import replace

from fluxx.adapters.sql.bus import DatabaseBus
from fluxx.model.job import Extractor, Job, Status
from fluxx.model.outcome import Retry
from fluxx.ports.bus import Message
from fluxx.ports.jobs import Claim, JobFilter, Position
from support.history import CLIENTS, JOBS_OF_A_FILE, History
from support.stores import LEASE, StoresWorld, acceptance, opened_stores

LIVE: Final = 50
MESSAGES: Final = 1000
PAGE: Final = 50
RECENT: Final = 3000
"""Finished jobs that are asked about again and again."""
TOPIC, NAME, INBOX = "job-status", "fluxx-events", "accepted-file"


class Place(NamedTuple):
    """The database: a history, some live jobs, a log."""

    world: StoresWorld
    history: History
    extractors: list[Extractor]
    live: list[Job]
    bus: DatabaseBus
    chance: random.Random

    def some_job(self) -> UUID:
        """Return one of the finished jobs that people ask about: the latest."""
        return self.history.job_id(self._lately())

    def some_file(self) -> UUID:
        """Return a file that the latest finished jobs worked on."""
        return self.history.file_id(self._lately())

    def old_job(self) -> UUID:
        """Return any finished job: a large history has most of them on the disk, not in a cache."""
        return self.history.job_id(self.chance.randrange(self.history.count))

    def old_file(self) -> UUID:
        """Return a file that any finished job worked on."""
        return self.history.file_id(self.chance.randrange(self.history.count))

    def _lately(self) -> int:
        return self.history.count - 1 - self.chance.randrange(min(RECENT, self.history.count))

    def some_extractor(self) -> Extractor:
        """Return an extractor with a share of the history."""
        return self.chance.choice(self.extractors)

    def long_ago(self) -> Position:
        """Return a place in the middle of the history."""
        return Position(self.world.clock.now() - timedelta(days=150), self.old_job())


@asynccontextmanager
async def grown(url: str, jobs: int, *, live: int = LIVE, seed: int = 1) -> AsyncIterator[Place]:
    """Fill an empty database with so many finished jobs and a few live ones."""
    async with opened_stores(url) as world:
        clients = [await world.client_application() for _ in range(CLIENTS)]
        extractors = [await world.extractor(client) for client in clients for _ in range(JOBS_OF_A_FILE)]
        alive = await _live_jobs(world, extractors[0], live)
        bus = world.database.bus({TOPIC: [NAME], INBOX: [NAME]})
        await bus.publish(TOPIC, [Message(message_id=f"{number}", body=b"{}") for number in range(MESSAGES)])
        history = History(world.engine, extractors, count=jobs, now=world.clock.now())
        history.fill()
        yield Place(world, history, extractors, alive, bus, random.Random(seed))


async def _live_jobs(world: StoresWorld, extractor: Extractor, count: int) -> list[Job]:
    """Queue jobs that outlive every jump of the clock."""
    file, deadline = await world.file(extractor), world.clock.now() + timedelta(days=3650)
    jobs = [replace(world.new_job(file, extractor, key=f"{number}"), deadline_at=deadline) for number in range(count)]
    return list(await world.accepted(*jobs)) if jobs else []


class Call(NamedTuple):
    """Something asked of the database; ``act`` gets what ``prepare`` brought."""

    act: Callable[[Place, Any], Awaitable[Any]]
    prepare: Callable[[Place], Awaitable[Any]]


async def nothing(place: Place) -> None:
    """Let all leases run out; nothing else has to be prepared."""
    place.world.clock.jump(LEASE + 1)


async def new_file(place: Place) -> Any:
    """Store a file; return what its message asks for."""
    file = await place.world.file(place.extractors[0])
    return acceptance(place.world.new_job(file, place.extractors[0]))


async def held_job(place: Place) -> Any:
    """Take a live job; return what is to be written of it."""
    held = await place.world.jobs.seize(place.chance.choice(place.live).job_id, lease=LEASE)
    return place.world.transition(held, Retry("The vault can't be reached.", counted=False))


async def held_claims(place: Place) -> Any:
    """Take all live jobs; return the claims."""
    await nothing(place)
    due = await place.world.jobs.claim(lease=LEASE, limit=LIVE)
    return [Claim(job.job_id, job.claim_token) for job in due.jobs if job.claim_token]


async def new_event(place: Place) -> Any:
    """Let an event be there to be published."""
    await place.world.jobs.accept(await new_file(place))


async def claim_without(place: Place, _: Any) -> None:
    """Claim for a worker that has enough of some extractors."""
    without = frozenset(one.client_application_extractor_id for one in place.extractors[1:3])
    await place.world.jobs.claim(lease=LEASE, limit=20, without=without)


async def renew_and_release(place: Place, claims: Any) -> None:
    """Renew claims, then give them back."""
    await place.world.jobs.renew(claims, lease=LEASE)
    now = place.world.clock.now()
    await place.world.jobs.release(dict.fromkeys(claims, now))


async def one_job(place: Place, _: Any) -> None:
    """Read a job with its history, as the API does."""
    await place.world.reader.job_with_history(place.some_job())


async def an_old_job(place: Place, _: Any) -> None:
    """Read a job with its history, as the API does."""
    await place.world.reader.job_with_history(place.old_job())


async def relay(place: Place, _: Any) -> None:
    """Look for events and mark them."""
    waiting = await place.world.outbox.unpublished(limit=500)
    await place.world.outbox.mark_published([event.outbox_id for event in waiting])


async def receive(place: Place, _: Any) -> None:
    """Look for accepted files where there are none."""
    await place.bus.subscription(INBOX, NAME).receive(limit=50, wait=0)


async def browse(place: Place, _: Any) -> None:
    """Read on in the log."""
    await place.bus.subscription(TOPIC, NAME).browse(after=MESSAGES // 2, limit=PAGE)


async def backlog(place: Place, _: Any) -> None:
    """Ask what waits the longest, as metrics and pages do."""
    await place.world.observer.backlog()


async def purge_nothing(place: Place, _: Any) -> None:
    """Look for what is older than anything."""
    before = place.world.clock.now() - timedelta(days=1000)
    await place.world.retention.outdated_jobs(before, limit=PAGE)
    await place.world.retention.outdated_files(before, limit=PAGE)
    await place.world.retention.forget_messages(before, log=TOPIC, limit=PAGE)


def listing(of: Callable[[Place], JobFilter], *, later: bool = False, limit: int = PAGE) -> Call:
    """Read a page with histories, the first or one from the middle."""

    async def act(place: Place, _: Any) -> None:
        after = place.long_ago() if later else None
        await place.world.reader.jobs_with_histories(of(place), limit=limit, after=after)

    return Call(act, nothing)


def of_client(place: Place, status: Status | None = None) -> JobFilter:
    """Ask for the jobs of a client application."""
    return JobFilter(client_application_id=place.some_extractor().client_application_id, status=status)


def of_extractor(place: Place) -> JobFilter:
    """Ask for the jobs of an extractor."""
    return JobFilter(client_application_extractor_id=place.some_extractor().client_application_extractor_id)


CALLS: Final[dict[str, Call]] = {
    "claim": Call(lambda place, _: place.world.jobs.claim(lease=LEASE, limit=20), nothing),
    "claim without some extractors": Call(claim_without, nothing),
    "accept": Call(lambda place, wanted: place.world.jobs.accept(wanted), new_file),
    "apply": Call(lambda place, transition: place.world.jobs.apply(transition), held_job),
    "renew and release": Call(renew_and_release, held_claims),
    "relay": Call(relay, new_event),
    "receive nothing": Call(receive, nothing),
    "browse the log": Call(browse, nothing),
    "what waits the longest": Call(backlog, nothing),
    "job by id": Call(one_job, nothing),
    "jobs by file": listing(lambda place: JobFilter(file_id=place.some_file())),
    "an old job by id": Call(an_old_job, nothing),
    "jobs by an old file": listing(lambda place: JobFilter(file_id=place.old_file())),
    "newest first": listing(lambda _: JobFilter()),
    "newest first, a later page": listing(lambda _: JobFilter(), later=True),
    "of a client application": listing(of_client),
    "of a client application, a later page": listing(of_client, later=True),
    "of an extractor": listing(of_extractor),
    "failed": listing(lambda _: JobFilter(status=Status.FAILED)),
    "failed of a client application": listing(lambda place: of_client(place, Status.FAILED), limit=5),
    "succeeded": listing(lambda _: JobFilter(status=Status.SUCCEEDED)),
    "queued": listing(lambda _: JobFilter(status=Status.QUEUED)),
    "queued, a later page": listing(lambda _: JobFilter(status=Status.QUEUED), later=True),
    "started": listing(lambda _: JobFilter(status=Status.STARTED)),
    "started of a client application": listing(lambda place: of_client(place, Status.STARTED)),
    "purge nothing": Call(purge_nothing, nothing),
}
"""What is asked all the time, by name."""
