"""A whole service in the test's process: all roles, real HTTP, a scripted extractor to talk to."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import msgspec

from fluxx import running as service_parts
from fluxx import settings as settings_module
from fluxx import wiring
from fluxx.clock import Clock, SystemClock
from fluxx.messages import accepted_file, job_status
from fluxx.messages.accepted_file import AcceptedFile
from fluxx.model.job import Extractor
from fluxx.ports.bus import Message
from fluxx.ports.secrets import ApiKey
from fluxx.roles import ALL_ROLES, Roles
from fluxx.settings import Settings
from fluxx.telemetry import Facts
from fluxx.wiring import World
from support.facts import BOUND, FactsHeard

QUICK: dict[str, Any] = {
    "poll_interval_seconds": 0.02,
    "poll_max_interval_seconds": 0.05,
    "retry_base_seconds": 0.02,
    "retry_max_seconds": 0.05,
    "egress_allowed_networks": "127.0.0.0/8",
}
"""Waits short enough for tests; every rule stays as it is."""

KEY = ApiKey("a-made-up-key")


class House(msgspec.Struct, frozen=True):
    """A running service and the handles that a test needs."""

    world: World
    service: service_parts.Service
    heard: FactsHeard
    http: httpx.AsyncClient

    async def client_application(self, name: str = "Invoices") -> UUID:
        """Register a client application."""
        return (await wiring.registering(self.world).register_client_application(name)).client_application_id

    async def extractor(
        self, client: UUID, url: str, *, polling_url: str | None = None, key: ApiKey | None = KEY, name: str = "ocr"
    ) -> Extractor:
        """Register an extractor with a key."""
        return await wiring.registering(self.world).register_extractor(
            client, name=name, extraction_url=url, polling_url=polling_url, api_key=key
        )

    async def upload(self, client: UUID, content: bytes = b"%PDF-1.7 made up", name: str = "invoice.pdf") -> UUID:
        """Upload a file through the API."""
        answer = await self.http.post(
            "/files", params={"clientApplicationId": str(client)}, files={"file": (name, content, "application/pdf")}
        )
        assert answer.status_code == 202, answer.text
        return UUID(answer.json()["fileId"])

    async def jobs_of(self, file_id: UUID) -> list[dict[str, Any]]:
        """The file's jobs as the API shows them, oldest first."""
        answer = await self.http.get(f"/extractor/job/file/{file_id}")
        assert answer.status_code == 200, answer.text
        items: list[dict[str, Any]] = answer.json()["items"]
        return items[::-1]

    async def finished(self, file_id: UUID, count: int = 1) -> list[dict[str, Any]]:
        """The file's jobs once ``count`` of them are final."""
        async with asyncio.timeout(BOUND):
            while True:
                told = len(self.heard.all)
                jobs = await self.jobs_of(file_id)
                if sum(job["status"] in ("Succeeded", "Failed") for job in jobs) >= count:
                    return jobs
                await self.heard.news(beyond=told)

    async def announce(self, client: UUID, file_id: UUID, *, message_id: str, file_url: str | None = None) -> None:
        """Publish an accepted-file message, as the platform would."""
        body = accepted_file.encode(AcceptedFile(file_id=file_id, client_application_id=client, file_url=file_url))
        await self.publish(body, message_id=message_id)

    async def publish(self, body: bytes, *, message_id: str) -> None:
        """Publish any bytes to ``TOPIC_ACCEPTED_FILE``."""
        await self.world.bus.publish(
            self.world.settings.topic_accepted_file, [Message(message_id=message_id, body=body)]
        )

    async def events(self, count: int, *, job_id: str | None = None) -> list[job_status.Envelope]:
        """The events published so far, once there are ``count`` (of one job)."""
        settings = self.world.settings
        log = self.world.bus.subscription(settings.topic_job_status, settings.job_status_subscription)
        async with asyncio.timeout(BOUND):
            while True:
                told = len(self.heard.all)
                seen = [job_status.decode(one.message.body) for one in await log.browse(limit=1000)]
                mine = [event for event in seen if job_id in (None, event.subject)]
                if len(mine) >= count:
                    return mine
                await self.heard.news(beyond=told)


@asynccontextmanager
async def house(
    home: Path,
    *,
    roles: Roles = ALL_ROLES,
    clock: Clock | None = None,
    facts: Facts | None = None,
    seed: int = 1,
    around: Callable[[World], World] = lambda world: world,
    **overrides: Any,
) -> AsyncIterator[House]:
    """Run a service in ``home`` until the block ends; it is drained then. ``around`` puts something about its world."""
    settings: Settings = settings_module.load(fluxx_home=home, **(QUICK | overrides))
    facts = facts or Facts()
    heard = FactsHeard(facts)
    async with wiring.connect(settings, facts=facts, clock=clock or SystemClock(), chance=random.Random(seed)) as whole:
        world = around(whole)
        service = service_parts.Service(world, roles=roles, host="127.0.0.1", port=0)
        task = asyncio.create_task(service.run())
        ready = asyncio.create_task(service.ready.wait())
        await asyncio.wait([task, ready], return_when=asyncio.FIRST_COMPLETED, timeout=BOUND)
        if task.done():
            await task
        async with httpx.AsyncClient(base_url=service.url or "http://127.0.0.1", timeout=BOUND) as http:
            try:
                yield House(world, service, heard, http)
            finally:
                service.stop()
                await task
