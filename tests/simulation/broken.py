"""Worlds in which one mechanism is switched off. Each must be noticed, or an invariant is worth nothing."""

import asyncio
import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from msgspec.structs import replace
from sqlalchemy import Connection, insert, select, update

from fluxx.adapters.sql.rows import job_of
from fluxx.adapters.sql.tables import job, outbox
from fluxx.messages import job_status as messages
from fluxx.model import transitions
from fluxx.model.job import Job
from fluxx.model.transitions import JobEvent, Transition
from fluxx.ports.blobs import Stored
from fluxx.ports.bus import Delivery
from fluxx.ports.extractor import Answer, Call
from fluxx.ports.jobs import Acceptance, Accepted, Claim, Due
from fluxx.ports.outbox import OutboxEvent
from fluxx.ports.secrets import ApiKey
from fluxx.wiring import World

SHARED: Final = UUID(int=7, version=4)


class Over:
    """Something of the world, but for what a subclass does in another way."""

    def __init__(self, inner: Any, world: World) -> None:
        self._inner = inner
        self._world = world

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def _write(self, work: Any) -> Any:
        return await self._world.database._connections.write(work)


class Unfenced(Over):
    async def apply(self, transition: Transition) -> bool:
        """Write whoever holds the job."""
        mine = update(job).where(job.c.JobID == transition.job.job_id).values(ClaimToken=transition.claim_token)
        await self._write(lambda connection: connection.execute(mine))
        written: bool = await self._inner.apply(transition)
        return written


class Forgetful(Over):
    async def accept(self, acceptance: Acceptance) -> Accepted:
        """Take a message that comes again for a new one."""
        accepted: Accepted = await self._inner.accept(acceptance)
        if accepted.known:
            again = tuple(transitions.queue(_another(one.job)) for one in acceptance.transitions)
            accepted = await self._inner.accept(replace(acceptance, transitions=again))
        return accepted


def _another(one: Job) -> Job:
    return replace(one, job_id=uuid4(), idempotency_key=str(uuid4()))


class Unrenewed(Over):
    async def renew(self, claims: Sequence[Claim], *, lease: float) -> Sequence[Claim]:  # noqa: ARG002 - the port's
        """Believe that claims last."""
        return claims


class Endless(Over):
    async def claim(
        self, *, lease: float, limit: int, without: frozenset[UUID] = frozenset(), ahead: float = 0.0
    ) -> Due:
        """Hold claims for ever."""
        due: Due = await self._inner.claim(lease=lease + 10_000, limit=limit, without=without, ahead=ahead)
        return due


class Hoarding(Over):
    async def apply(self, transition: Transition) -> bool:
        """Keep jobs for ever."""
        new = transition.job
        if new.claim_token is not None and new.due_at is not None:
            new = replace(new, due_at=new.due_at + timedelta(seconds=10_000))
        written: bool = await self._inner.apply(replace(transition, job=new))
        return written


class Shared(Over):
    async def claim(
        self,
        *,
        lease: float,  # noqa: ARG002 - the port's
        limit: int,
        without: frozenset[UUID] = frozenset(),  # noqa: ARG002 - the port's
        ahead: float = 0.0,  # noqa: ARG002 - the port's
    ) -> Due:
        """Give the same jobs to everybody who asks."""
        now = self._world.clock.now()

        def work(connection: Connection) -> Sequence[Job]:
            due = [job_of(row) for row in connection.execute(select(job).where(job.c.DueAt <= now).limit(limit))]
            taking = update(job).where(job.c.JobID.in_([one.job_id for one in due])).values(ClaimToken=SHARED)
            connection.execute(taking)
            return [replace(one, claim_token=SHARED) for one in due]

        return Due(await self._write(work), now + timedelta(seconds=0.2))


class Apart(Over):
    async def apply(self, transition: Transition) -> bool:
        """Write the events in a transaction of their own, somewhat later."""
        written: bool = await self._inner.apply(replace(transition, events=()))
        if written and transition.events:
            await asyncio.sleep(0.3)
            rows = [_row(event) for event in transition.events]
            await self._write(lambda connection: connection.execute(insert(outbox), rows))
        return written


def _row(event: JobEvent) -> dict[str, Any]:
    body = messages.encode(event).decode()
    return {"EventId": event.event_id, "JobID": event.job_id, "Body": body, "CreatedAt": event.timestamp}


class Unclamped(Over):
    async def apply(self, transition: Transition) -> bool:
        """Let a job wait beyond its deadline."""
        new = transition.job
        if new.due_at == new.deadline_at:
            new = replace(new, due_at=new.due_at + timedelta(seconds=150))
        written: bool = await self._inner.apply(replace(transition, job=new))
        return written


class Talkative(Over):
    async def apply(self, transition: Transition) -> bool:
        """Tell the key where it is least expected."""
        new = transition.job
        key = await self._world.secrets.api_key(new.client_application_extractor_id)
        new = replace(new, status_message=f"{new.status_message} {key.reveal()}")
        written: bool = await self._inner.apply(replace(transition, job=new))
        return written


class Leaderless(Over):
    async def lead(self, owner: UUID, *, lease_for: float) -> bool:  # noqa: ARG002 - the port's
        """Let every relay work at once."""
        return True


class Backwards(Over):
    async def unpublished(self, *, limit: int) -> Sequence[OutboxEvent]:
        """Give the youngest events first."""
        events: Sequence[OutboxEvent] = await self._inner.unpublished(limit=limit)
        return events[::-1]


class Hasty(Over):
    async def write(self, path: str, content: Any, *, content_type: str, once: bool = False) -> Stored:
        """Say that it is written, and write it later."""
        whole = content if isinstance(content, bytes) else b"".join([piece async for piece in content])
        self._later = asyncio.create_task(self._write_later(path, whole, content_type, once))
        return Stored(len(whole), hashlib.sha256(whole).hexdigest())

    async def _write_later(self, path: str, content: bytes, content_type: str, once: bool) -> None:  # noqa: FBT001
        await asyncio.sleep(1.0)
        await self._inner.write(path, content, content_type=content_type, once=once)


class Overwriting(Over):
    async def write(self, path: str, content: Any, *, content_type: str, once: bool = False) -> Stored:  # noqa: ARG002 - the port's
        """Put what comes late in the place of what was there."""
        stored: Stored = await self._inner.write(path, content, content_type=content_type)
        return stored


class ShortLived(Over):
    async def signed_url(self, path: str, *, expires_at: datetime) -> str:  # noqa: ARG002 - the port's
        """Sign URLs that end at once."""
        url: str = await self._inner.signed_url(path, expires_at=self._world.clock.now())
        return url


class Rash(Over):
    """A bus whose messages are gone once they were taken."""

    def subscription(self, topic: str, name: str) -> Any:
        return RashSubscription(self._inner.subscription(topic, name), self._world)


class RashSubscription(Over):
    async def receive(self, *, limit: int, wait: float) -> Sequence[Delivery]:
        deliveries: Sequence[Delivery] = await self._inner.receive(limit=limit, wait=wait)
        await self._inner.complete(deliveries)
        return deliveries


class Careless(Over):
    """A bus that throws poison away."""

    def subscription(self, topic: str, name: str) -> Any:
        return CarelessSubscription(self._inner.subscription(topic, name), self._world)


class CarelessSubscription(Over):
    async def dead_letter(self, delivery: Delivery, *, reason: str, description: str) -> None:  # noqa: ARG002 - the port's
        await self._inner.complete([delivery])


class Mingling(Over):
    async def active_extractors(self, client_application_id: UUID) -> Any:  # noqa: ARG002 - the port's
        """Take every extractor for everybody's."""
        return [one for one in await self._world.registrations.extractors() if one.is_active]


class Renaming(Over):
    async def exchange(self, call: Call) -> Answer:
        """Call a job something else at each submission."""
        answer: Answer = await self._inner.exchange(
            replace(call, headers={**call.headers, "Idempotency-Key": str(uuid4())})
        )
        return answer


class Stale(Over):
    async def api_key(self, extractor_id: UUID, *, fresh: bool = False) -> ApiKey:  # noqa: ARG002 - the port's
        """Never read a key again."""
        known = vars(self).setdefault("keys", {})
        if extractor_id not in known:
            known[extractor_id] = await self._inner.api_key(extractor_id)
        key: ApiKey = known[extractor_id]
        return key


class Oblivious(Over):
    async def outdated_jobs(self, before: datetime, *, limit: int) -> Any:
        """Take what ended just now for old."""
        return await self._inner.outdated_jobs(before + timedelta(days=2), limit=limit)


def unlimited(**limits: int) -> Any:
    """Return what takes limits out of the settings."""
    return lambda world: replace(world, settings=world.settings.model_copy(update=limits))


def over(**parts: type[Over]) -> Any:
    """Return what puts other parts into a world."""

    def variant(world: World) -> World:
        return replace(world, **{name: part(getattr(world, name), world) for name, part in parts.items()})

    return variant
