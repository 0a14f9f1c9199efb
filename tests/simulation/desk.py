"""The front desk: clients who hand in files, a platform that says things twice, operators who intervene.

It runs in a process of its own, which can be hit like any other. What was asked for, and what of it is
certain, is kept for the invariants.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Final
from uuid import UUID

import msgspec
from msgspec.structs import replace

from fluxx import wiring
from fluxx.errors import FluxxError
from fluxx.messages import accepted_file
from fluxx.messages.accepted_file import AcceptedFile
from fluxx.ports.bus import Message
from fluxx.ports.jobs import JobFilter
from fluxx.ports.secrets import ApiKey
from simulation.plan import POISON, Act, Doing
from simulation.played_extractor import PlayedExtractor, temper_of
from simulation.relics import Relic, leave_relic
from simulation.stage import Stage

LONG_AGO: Final = timedelta(days=10)
OLD: Final = timedelta(days=1)
"""What ended before that may be forgotten."""


class Handed(msgspec.Struct, kw_only=True):
    """A file that a client handed in; ``certain`` once it was told that this worked."""

    file_id: UUID
    client: UUID
    file_url: str | None = None
    certain: bool = False


class Registered(msgspec.Struct, frozen=True, kw_only=True):
    """An extractor as registered: ``name`` is the played one's."""

    extractor_id: UUID
    client: UUID
    name: str
    active: bool
    has_key: bool


class Desk:
    """``handed``, ``registered``, ``relics`` and the rest are what the invariants go by."""

    def __init__(self, stage: Stage) -> None:
        self.clients: list[UUID] = []
        self.registered: list[Registered] = []
        self.handed: list[Handed] = []
        self.relics: list[Relic] = []
        self.poison: dict[str, str] = {}
        self.poisoned: list[str] = []
        self.cancelled: set[UUID] = set()
        self.retried: set[UUID] = set()
        self.secrets: list[str] = []
        self._unsure: set[str] = set()  # keys that a desk was storing when it was killed
        self._stage = stage
        self._chance = stage.plan.chance("desk")
        self.begin()
        self._acts: dict[Act, Callable[[int], Awaitable[None]]] = {
            "upload": self._upload,
            "remote": self._remote,
            "again": self._again,
            "poison": self._put_poison,
            "cancel": self._cancel,
            "retry": self._retry,
            "rotate": self._rotate,
            "purge": self.purge,
        }

    def begin(self) -> None:
        """Open, at first or after a crash."""
        self.process = self._stage.process("desk")
        self._rotating = asyncio.Lock()
        self._world = self._stage.world("desk", ahead=self._stage.plan.skews[-1])

    async def end(self) -> None:
        """Close: whoever is at the desk must come again."""
        self.process.kill()

    async def prepare(self) -> None:
        """Register everybody, and leave something from long ago behind."""
        for number, count in enumerate(self._stage.plan.clients):
            application = await wiring.registering(self._world).register_client_application(f"client {number}")
            self.clients.append(application.client_application_id)
            for each in range(count):
                await self._register(application.client_application_id, f"x{number}{each}", first=each == 0)
        for _ in range(self._chance.randint(0, 2)):
            extractor = self._chance.choice(self.registered)
            past = self._stage.world("past", ahead=-LONG_AGO.total_seconds())
            self.relics.append(await leave_relic(past, extractor.client, extractor.extractor_id, self._id))

    async def _register(self, client: UUID, name: str, *, first: bool) -> None:
        temper = temper_of(self._chance)
        if self._stage.plan.late:
            temper = replace(temper, by_url=1.0, fickle=True, travel=0.05, never=0.0, fatal=0.0)
        played = PlayedExtractor(name, temper, self._stage.plan.chance(name))
        active, has_key = first or self._chance.random() < 0.8, self._chance.random() < 0.95
        key = self._new_key(played)
        registering = wiring.registering(self._world)
        url = self._stage.extractors.add(played)
        polling_url = f"https://{name}.test/polls?v=1" if self._chance.random() < 0.3 else None
        made = await registering.register_extractor(
            client, name=name, extraction_url=url, polling_url=polling_url, api_key=ApiKey(key) if has_key else None
        )
        if not active:
            await registering.deactivate_extractor(client, made.client_application_extractor_id)
        self.registered.append(
            Registered(
                extractor_id=made.client_application_extractor_id,
                client=client,
                name=name,
                active=active,
                has_key=has_key,
            )
        )

    def _new_key(self, played: PlayedExtractor) -> str:
        key = f"canary-key-{len(self.secrets)}"
        self.secrets.append(key)
        played.keys.add(key)
        return key

    async def all(self) -> None:
        """Do everything that is planned, each at its time."""
        await asyncio.gather(*(self._at(doing) for doing in self._stage.plan.doings))

    async def _at(self, doing: Doing) -> None:
        await asyncio.sleep(doing.at)
        await self._opened()
        self._stage.trace.tell("desk", doing.act, number=doing.number)
        process = self.process
        task = process.start(self._tried(doing))
        while not task.done() and process.alive:
            await asyncio.wait([task], timeout=0.5)
        if task.done():
            task.result()

    async def _opened(self) -> None:
        while self.process.frozen or not self.process.alive:  # noqa: ASYNC110 - virtual time costs nothing
            await asyncio.sleep(0.5)

    async def _tried(self, doing: Doing) -> None:
        try:
            await self._acts[doing.act](doing.number)
        except FluxxError as error:
            self._stage.trace.tell("desk", doing.act, number=doing.number, error=error)

    def _id(self) -> UUID:
        return UUID(int=self._chance.getrandbits(128), version=4)

    async def _upload(self, number: int) -> None:
        async def content() -> AsyncIterator[bytes]:
            yield b"%PDF made up"

        client = self.clients[number % len(self.clients)]
        file = await wiring.uploading(self._world).upload(
            client_application_id=client, file_name=f"{number}.pdf", content_type="application/pdf", content=content()
        )
        self.handed.append(Handed(file_id=file.file_id, client=client, certain=True))

    async def _remote(self, number: int) -> None:
        secret = f"canary-sas-{len(self.secrets)}"
        self.secrets.append(secret)
        handed = Handed(
            file_id=self._id(),
            client=self.clients[number % len(self.clients)],
            file_url=f"https://files.test/{number}?sig={secret}",
        )
        self.handed.append(handed)
        await self._announce(handed)
        handed.certain = True

    async def _announce(self, handed: Handed) -> None:
        body = accepted_file.encode(
            AcceptedFile(file_id=handed.file_id, client_application_id=handed.client, file_url=handed.file_url)
        )
        await self._publish(body, str(self._id()))

    async def _publish(self, body: bytes, message_id: str) -> None:
        topic = self._world.settings.topic_accepted_file
        await self._world.bus.publish(topic, [Message(message_id=message_id, body=body)])

    async def _again(self, number: int) -> None:
        """The platform says again what it said before, in another order."""
        known = [handed for handed in self.handed if handed.certain]
        for handed in self._chance.sample(known, min(len(known), 1 + number % 3)):
            await self._announce(handed)

    async def _put_poison(self, number: int) -> None:
        kind, message_id = POISON[number % len(POISON)], f"poison-{len(self.poison)}"
        client, unknown = self.clients[0], self._id()
        body, reason = {
            "garbage": (b"\xff{", "NotJson"),
            "bad id": (b'{"FileId": 7, "ClientApplicationId": 8}', "FieldInvalid"),
            "no client": (_message(unknown, unknown), "UnknownClientApplication"),
            "no file": (_message(unknown, client), "UnknownFile"),
        }[kind]
        self.poison[message_id] = reason
        await self._publish(body, message_id)
        self.poisoned.append(message_id)

    async def _some_job(self, number: int) -> UUID | None:
        jobs = await self._world.reader.jobs(JobFilter(), limit=50)
        return jobs[number % len(jobs)].job_id if jobs else None

    async def _cancel(self, number: int) -> None:
        job_id = await self._some_job(number)
        if job_id is not None:
            self.cancelled.add(job_id)
            await wiring.intervention(self._world).cancel(job_id)

    async def _retry(self, number: int) -> None:
        job_id = await self._some_job(number)
        if job_id is not None:
            self.retried.add(job_id)
            first = await wiring.intervention(self._world).retry(job_id)
            second = await wiring.intervention(self._world).retry(job_id)
            assert first.job_id == second.job_id

    async def _rotate(self, number: int) -> None:
        """Give an extractor a new key: first in the vault, then the old one ends."""
        known = [each for each in self.registered if each.has_key]
        if not known:
            return
        extractor = known[number % len(known)]
        played = self._stage.extractors.all[extractor.name]
        async with self._rotating:
            key = self._new_key(played)
            self._unsure.add(key)
            try:
                await self._world.secrets.set_api_key(extractor.extractor_id, ApiKey(key))
            finally:
                self._unsure.discard(key)
            played.keys = {key, *(self._unsure & played.keys)}
            played.rotations += 1

    async def purge(self, _number: int = 0) -> None:
        """Forget what is old."""
        await wiring.purge(self._world).older_than(OLD)


def _message(file_id: UUID, client: UUID) -> bytes:
    return accepted_file.encode(AcceptedFile(file_id=file_id, client_application_id=client))
