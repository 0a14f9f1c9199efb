"""Live events: what happens to jobs reaches those who follow them, filtered, resumable, and with an end."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from fluxx.api.access.callers import Role
from fluxx.model.outcome import Refused, Submitted
from support.access import known, setting
from support.facts import BOUND
from support.placed_jobs import happened, placed_job
from support.service import House, house

EVENTS = "/extractor/jobs/events"


class Event(msgspec.Struct, frozen=True):
    id: int
    name: str
    data: dict[str, Any]


async def _events(answer: httpx.Response) -> AsyncIterator[Event]:
    fields: dict[str, str] = {}
    async for line in answer.aiter_lines():
        name, _, value = line.partition(": ")
        if line:
            fields[name] = value
        elif "event" in fields:
            yield Event(int(fields["id"]), fields["event"], msgspec.json.decode(fields["data"]))
            fields = {}


@asynccontextmanager
async def following(
    fluxx: House, headers: dict[str, str] | None = None, **query: str
) -> AsyncIterator[AsyncIterator[Event]]:
    async with (
        asyncio.timeout(BOUND),
        fluxx.http.stream("GET", EVENTS, params=query, headers=headers or {}, timeout=BOUND) as answer,
    ):
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8", await answer.aread()
        yield _events(answer)


async def until(events: AsyncIterator[Event], *, status: str) -> list[Event]:
    seen = []
    async for event in events:
        seen.append(event)
        if event.data.get("status") == status:
            return seen
    raise AssertionError(f"the stream ended after {seen}")


@pytest.fixture
async def fluxx(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path, roles=frozenset({"registration", "files", "jobs"})) as running:
        yield running


async def test_what_happens_is_told_as_it_happens(fluxx: House) -> None:
    client = await fluxx.client_application()
    extractor = await fluxx.extractor(client, "https://ocr.example.com/")
    file_id = await fluxx.upload(client)
    other = await placed_job(fluxx.world, file_id, extractor)
    job = await placed_job(fluxx.world, file_id, extractor)
    async with following(fluxx, jobId=str(job.job_id)) as events:
        assert (await anext(events)).name == "hello"
        await happened(fluxx.world, other, [Submitted("not ours")])
        await happened(fluxx.world, job, [Submitted("taken"), Refused("no")])
        seen = await until(events, status="Failed")
    assert [event.data["status"] for event in seen] == ["Started", "Failed"]
    assert {event.data["jobId"] for event in seen} == {str(job.job_id)}
    assert seen[-1].data["message"] == "no"


async def test_a_stream_is_resumed_without_a_hole(fluxx: House) -> None:
    client = await fluxx.client_application()
    extractor = await fluxx.extractor(client, "https://ocr.example.com/")
    job = await placed_job(fluxx.world, await fluxx.upload(client), extractor)
    async with following(fluxx) as events:
        start = await anext(events)
    await happened(fluxx.world, job, [Submitted("taken"), Refused("no")])
    async with following(fluxx, {"Last-Event-ID": str(start.id)}) as events:
        seen = await until(events, status="Failed")
    assert [event.data.get("status") for event in seen] == [None, "Started", "Failed"]
    async with following(fluxx, {"Last-Event-ID": str(seen[1].id)}) as events:
        assert [event.data.get("status") for event in await until(events, status="Failed")] == [None, "Failed"]


async def test_a_bound_caller_follows_its_own_jobs_only(tmp_path: Path) -> None:
    admin = known(Role.ADMIN)
    async with house(tmp_path / "first", roles=frozenset({"jobs"})) as fluxx:
        client, stranger = await fluxx.client_application(), await fluxx.client_application("Others")
    bound = known(Role.READ, client=client)
    async with house(tmp_path / "first", api_keys=setting(admin, bound), roles=frozenset({"files", "jobs"})) as fluxx:
        jobs = []
        for owner in (stranger, client):
            extractor = await fluxx.extractor(owner, "https://ocr.example.com/")
            fluxx.http.headers.update(admin.headers)
            jobs.append(await placed_job(fluxx.world, await fluxx.upload(owner), extractor))
        async with following(fluxx, bound.headers) as events:
            await anext(events)
            for job in jobs:
                await happened(fluxx.world, job, [Refused("over")])
            seen = await until(events, status="Failed")
        assert [event.data["jobId"] for event in seen] == [str(jobs[1].job_id)]
        assert (await fluxx.http.get(EVENTS, headers={"Authorization": "Bearer wrong"})).status_code == 401


async def test_a_stream_ends_with_the_service(tmp_path: Path) -> None:
    async with house(tmp_path, roles=frozenset({"jobs"})) as fluxx, following(fluxx) as events:
        await anext(events)
        fluxx.service.stop()
        assert [event async for event in events] == []
