"""Accept: from a message of ``TOPIC_ACCEPTED_FILE`` to one queued job per active extractor.

Stories 7 and 12. A message is completed as soon as its jobs are committed; one that comes again
makes no second job. What can't be understood is dead-lettered with the reason; while the registry
or the database is away, messages are given back.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

from uuid_utils.compat import uuid7

from fluxx.clock import Clock
from fluxx.errors import NotFound, Poison, Unavailable
from fluxx.loops.gathering import Gatherer
from fluxx.messages import accepted_file
from fluxx.messages.accepted_file import AcceptedFile
from fluxx.model import transitions
from fluxx.model.deadlines import Limits, deadline_of
from fluxx.model.job import ActiveExtractor, File, Job, Status
from fluxx.ports.blobs import Blobs
from fluxx.ports.bus import Delivery, Subscription
from fluxx.ports.jobs import Acceptance, Accepted, JobStore
from fluxx.ports.registrations import Registry
from fluxx.telemetry import FILE_ACCEPTED, MESSAGE_ABANDONED, MESSAGE_FAILED, MESSAGE_POISONED, Facts

BATCH: Final = 50
WAIT: Final = 0.5
"""Messages taken, and seconds waited, at one look."""

AWAY_REST: Final = 2.0
AWAY_REST_CAP: Final = 60.0
"""Seconds until a message comes again that couldn't be dealt with now: doubling from the first to the second.

Brokers count deliveries and give up a message that comes too often: a long outage must not use them up.
"""

FIRST: Final = "accepted"
"""The idempotency key of the job that an accepted file gets from each extractor."""


class Accepting:
    """The step of the intake loop. ``announce`` is told when jobs were queued."""

    def __init__(
        self,
        *,
        subscription: Subscription,
        registry: Registry,
        store: JobStore,
        blobs: Blobs,
        limits: Limits,
        clock: Clock,
        facts: Facts,
        announce: Callable[[], None],
    ) -> None:
        self._subscription = subscription
        self._registry = registry
        self._asking = Gatherer(self._ask, limit=BATCH)
        self._store = store
        self._blobs = blobs
        self._limits = limits
        self._clock = clock
        self._facts = facts
        self._announce = announce

    async def step(self) -> float:
        """Deal with what has arrived; return the seconds to rest."""
        deliveries = await self._subscription.receive(limit=BATCH, wait=WAIT)
        dealt = await asyncio.gather(*(self._deal_with(delivery) for delivery in deliveries))
        done = [delivery for delivery, verdict in zip(deliveries, dealt, strict=True) if verdict is None]
        if done:
            self._announce()
            await self._subscription.complete(done)
        # In sequence: brokers don't like one receiver settling side by side.
        for delivery, verdict in zip(deliveries, dealt, strict=True):
            await self._put_aside(delivery, verdict)
        return AWAY_REST if any(isinstance(verdict, Unavailable) for verdict in dealt) else 0.0

    async def _deal_with(self, delivery: Delivery) -> Poison | Unavailable | None:
        try:
            message = accepted_file.decode(delivery.message.body)
            trace = message.trace_context or accepted_file.trace_context(delivery.message.trace_context)
            with self._facts.span("accept", kind="consumer", parent=trace, file_id=message.file_id) as span:
                accepted = await self._accept(message, span.traceparent)
                self._facts.tell(FILE_ACCEPTED, file_id=message.file_id, new_jobs=len(accepted.new))
        except (Poison, Unavailable) as verdict:
            return verdict
        except Exception as error:  # noqa: BLE001 - a fault of ours with one message must not hold up the others
            name = type(error).__name__
            self._facts.tell(MESSAGE_FAILED, trace=error, message_id=delivery.message.message_id, error=name)
            return Unavailable(f"Internal error ({name}); see the log.")
        return None

    async def _accept(self, message: AcceptedFile, trace: str | None) -> Accepted:
        extractors = await self._asking.add(message.client_application_id)
        if isinstance(extractors, NotFound):
            raise Poison("UnknownClientApplication", str(extractors))
        if isinstance(extractors, Unavailable):
            raise extractors
        jobs = self._jobs(message, extractors, trace)
        try:
            return await self._store.accept(Acceptance(message.file_id, jobs, await self._remote_file(message)))
        except NotFound as error:
            raise Poison("UnknownFile", f"{error} Send FileUrl with files that are kept elsewhere.") from error

    async def _ask(self, clients: Sequence[UUID]) -> Sequence[Sequence[ActiveExtractor] | NotFound | Unavailable]:
        """Ask the registry once for each client application that messages which came together name."""
        distinct = list(dict.fromkeys(clients))
        answers = dict(zip(distinct, await asyncio.gather(*map(self._ask_one, distinct)), strict=True))
        return [answers[client] for client in clients]

    async def _ask_one(self, client: UUID) -> Sequence[ActiveExtractor] | NotFound | Unavailable:
        try:
            return await self._registry.active_extractors(client)
        except (NotFound, Unavailable) as error:
            return error

    def _jobs(
        self, message: AcceptedFile, extractors: Sequence[ActiveExtractor], trace: str | None
    ) -> tuple[transitions.Transition, ...]:
        now = self._clock.now()
        return tuple(
            transitions.queue(
                Job(
                    job_id=uuid7(),
                    file_id=message.file_id,
                    client_application_id=message.client_application_id,
                    client_application_extractor_id=extractor.client_application_extractor_id,
                    status=Status.QUEUED,
                    status_message=None,
                    created_at=now,
                    updated_at=now,
                    deadline_at=deadline_of(now, self._limits),
                    due_at=now,
                    idempotency_key=FIRST,
                    trace_context=trace,
                )
            )
            for extractor in extractors
        )

    async def _remote_file(self, message: AcceptedFile) -> File | None:
        """Keep a signed URL received from upstream where files are kept: it is as secret as they are."""
        if message.file_url is None:
            return None
        path = f"files/{message.client_application_id}/{message.file_id}/source-url"
        await self._blobs.write(path, message.file_url.encode(), content_type="text/uri-list")
        return File(
            file_id=message.file_id,
            client_application_id=message.client_application_id,
            file_name=str(message.file_id),
            content_type="application/octet-stream",
            size=None,
            sha256=None,
            blob_path=path,
            is_remote=True,
            created_at=self._clock.now(),
        )

    async def _put_aside(self, delivery: Delivery, verdict: Poison | Unavailable | None) -> None:
        message_id = delivery.message.message_id
        if isinstance(verdict, Poison):
            await self._subscription.dead_letter(delivery, reason=verdict.reason, description=str(verdict))
            self._facts.tell(MESSAGE_POISONED, message_id=message_id, reason=verdict.reason, description=verdict)
        elif isinstance(verdict, Unavailable):
            delay = min(AWAY_REST * 2.0 ** min(delivery.delivery_count - 1, 16), AWAY_REST_CAP)
            await self._subscription.abandon(delivery, delay=delay)
            self._facts.tell(MESSAGE_ABANDONED, message_id=message_id, error=verdict)
