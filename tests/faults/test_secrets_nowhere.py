"""Secrets are planted in a whole service and looked for everywhere, in every writing: none is found."""

import asyncio
import io
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import msgspec
import pytest
from msgspec.structs import replace

from fluxx import telemetry
from fluxx.api.access.callers import Role
from fluxx.ports.extractor import Answer, Call, ExtractorClient
from fluxx.ports.secrets import ApiKey
from fluxx.telemetry import FILE_ACCEPTED, MESSAGE_POISONED, STEP_FAILED, Facts
from fluxx.wiring import World
from support.access import known, setting
from support.hostile import MODES, REVEALING, Hostile
from support.scripted import ScriptedExtractor
from support.searching import Search
from support.service import House, house

KEY = ApiKey("mJ7q/2Vx9bT+Lw4ZcR8nKs5Yd==")
ROTATED = "Gh3v/8PzQ1+kX6tWm0BfUe4Ca=="
UPSTREAM = "tN5y/Rb2+HjD9sXoMe7LwQ1vZk8Fg3Up6Ti="
CALLER = known(Role.ADMIN)
TRIES = 100
CRASH = "reported-later/crash"


class Crashing:
    """An extractor client that fails twice in a way that nobody foresaw, with all it knows in its words."""

    def __init__(self, client: ExtractorClient) -> None:
        self._client = client
        self.download = client.download
        self.close = client.close
        self.crashes = 0

    async def exchange(self, call: Call) -> Answer:
        """Crash at the first two calls to ``…/crash``."""
        if CRASH in call.url and self.crashes < 2:
            self.crashes += 1
            key = call.api_key.reveal() if call.api_key else ""
            cause = ValueError(f"header Authorization: Bearer {key} of {call.url} has {call.body!r}")
            raise RuntimeError(f"{quote(key)} {key.encode().hex()} {call.body!r}") from cause
        return await self._client.exchange(call)


class Scene(msgspec.Struct):
    """A service full of secrets, and what it says."""

    fluxx: House
    log: io.StringIO
    hostile: Hostile
    client: UUID
    jobs: list[dict[str, Any]] = []

    def canaries(self) -> set[str]:
        """Everything secret that was in play."""
        signatures = {given.signature for given in self.hostile.given.values()}
        return {KEY.reveal(), ROTATED, UPSTREAM, CALLER.key, *signatures}


@asynccontextmanager
async def hostile_world(home: Path, log_format: str) -> AsyncIterator[Scene]:
    log = io.StringIO()
    logger = telemetry.logger(log_format=log_format, level=logging.DEBUG, stream=log, secrets=(CALLER.key,))

    def around(world: World) -> World:
        return replace(world, extractors=Crashing(world.extractors))

    async with (
        ScriptedExtractor() as server,
        house(
            home,
            facts=Facts(logger, level=logging.DEBUG),
            around=around,
            api_keys=setting(CALLER),
            max_submit_attempts=TRIES,
            max_poll_errors=TRIES,
        ) as fluxx,
    ):
        fluxx.http.headers.update(CALLER.headers)
        client = await fluxx.client_application()
        hostile = Hostile(server, rotate=lambda: None)
        for mode in (*MODES, CRASH):
            made = await fluxx.extractor(client, hostile.url(mode), key=KEY, name=mode)
            if mode == "rotated-key":
                stored = home / "secrets" / str(made.client_application_extractor_id)
                hostile.rotate = lambda stored=stored: stored.write_text(ROTATED)  # type: ignore[misc]
        yield Scene(fluxx, log, hostile, client)


async def worked_through(scene: Scene) -> None:
    """Let every extractor work on a file that is kept here and on one that is kept upstream; poison the bus."""
    fluxx, count = scene.fluxx, len(MODES) + 1
    upstream = f"https://files.example/a.pdf?sv=2025-01-05&sig={quote(UPSTREAM, safe='')}"
    remote = uuid4()
    here = await fluxx.upload(scene.client)
    await fluxx.announce(scene.client, remote, message_id="remote", file_url=upstream)
    await fluxx.announce(uuid4(), uuid4(), message_id="poison", file_url=upstream)
    await fluxx.heard.wait_for(MESSAGE_POISONED)
    await fluxx.heard.wait_for(FILE_ACCEPTED, 2)
    for file_id in (here, remote):
        scene.jobs += await finished(fluxx, file_id, count)
    await fluxx.events(2 * count)


async def finished(fluxx: House, file_id: UUID, count: int) -> list[dict[str, Any]]:
    """The file's jobs once all are final, however long it takes while something is still told."""
    while True:
        told = len(fluxx.heard.all)
        jobs = await fluxx.jobs_of(file_id)
        if sum(job["completedAt"] is not None for job in jobs) == count:
            return jobs
        await fluxx.heard.news(beyond=told)


async def shown(scene: Scene) -> AsyncIterator[tuple[str, str]]:
    """Yield everything that can be read of the service while it runs, by place."""
    http = scene.fluxx.http
    yield "log", scene.log.getvalue()
    told = [f"{fact.name} {value}" for fact, fields in scene.fluxx.heard.all for value in fields.values()]
    yield "facts", "\n".join(told)
    paths = ["/metrics", "/readyz", "/openapi.json", "/extractor/jobs?limit=200", "/registration/client-applications"]
    paths += [f"/registration/{scene.client}/extractors", f"/extractor/job/file/{scene.jobs[0]['fileId']}"]
    paths += [f"/extractor/job/{job['jobId']}" for job in scene.jobs] + [f"/files/{scene.jobs[0]['fileId']}"]
    for path in paths:
        answer = await http.get(path)
        assert answer.status_code == 200, answer.text
        yield path, f"{answer.headers}{answer.text}"
    settings = scene.fluxx.world.settings
    log = scene.fluxx.world.bus.subscription(settings.topic_job_status, settings.job_status_subscription)
    yield "events", "\n".join([one.message.body.decode() for one in await log.browse(limit=10_000)])
    async for place, text in complaints(scene):
        yield place, text


async def complaints(scene: Scene) -> AsyncIterator[tuple[str, str]]:
    """Make requests with secrets where they don't belong; yield what is said of them."""
    http, key = scene.fluxx.http, KEY.reveal()
    registration = f"/registration/{scene.client}/extractors"
    bodies: list[Any] = [
        {"name": "x", "extractionUrl": "https://x.example/", "apiKey": [key]},
        {"name": "x", "extractionUrl": "https://x.example/", "apikey": key},
        {"name": "x", "extractionUrl": "https://x.example/", "apiKey": key + "\n\n"},
        {"name": "x", "extractionUrl": f"https://user:{quote(key, safe='')}@x.example/", "apiKey": key},
        key,
    ]
    for number, body in enumerate(bodies):
        answer = await http.post(registration, json=body)
        assert answer.status_code in (400, 422), f"{number} {answer.text}"
        yield f"complaint {number}", answer.text
    broken = f'{{"name": "x", "apiKey": "{key}", '.encode()
    answer = await http.post(registration, content=broken, headers={"Content-Type": "application/json"})
    yield "a broken body", answer.text
    for headers in ({"Authorization": f"Bearer {key}"}, {"X-Api-Key": key, "Authorization": ""}):
        answer = await http.get("/extractor/jobs", headers=headers)
        assert answer.status_code == 401
        yield "an unknown key", f"{answer.headers}{answer.text}"


@pytest.mark.parametrize("log_format", ["json", "console"])
async def test_no_planted_secret_is_found_anywhere(tmp_path: Path, log_format: str) -> None:
    home = tmp_path / "home"
    async with hostile_world(home, log_format) as scene:
        await worked_through(scene)
        search = Search(scene.canaries())
        found = [(place, leak) async for place, text in shown(scene) for leak in search.leaks(text)]
        said = scene.log.getvalue()
    assert not found
    assert len(scene.fluxx.heard.of(STEP_FAILED)) == 2
    assert said.count("Traceback") >= 2
    assert {job["status"] for job in scene.jobs} == {"Failed"}
    masked = [job for job in scene.jobs if "***" in str(job["history"])]
    assert len(masked) >= 2 * len(REVEALING)
    for path in home.glob("fluxx.db*"):
        content = await asyncio.to_thread(path.read_bytes)
        assert not list(search.leaks(content.decode("latin-1"))), path
