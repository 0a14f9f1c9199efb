"""``GET /extractor/jobs/events``: what happens to jobs, as it happens, as server-sent events.

Every line of a job's history becomes an event ``job`` within about a second. Its id resumes the stream
(``Last-Event-ID``): what came since is sent again, at least once; where that is too much or not known, an event
``reset`` says to look at everything anew. A comment every few seconds keeps the connection open.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated, Final
from uuid import UUID

import msgspec
from fastapi import APIRouter, Header, Query
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from fluxx.api.access.callers import CallerOf
from fluxx.api.context import ApiContext
from fluxx.api.live_hub import Hub, Matches, Watcher
from fluxx.api.openapi import also, new_router, problems
from fluxx.api.schemas import JobChange
from fluxx.model.job import Status
from fluxx.ports.changes import Change

HEARTBEAT: Final = 10.0
"""Seconds without an event after which a comment is sent: proxies close what is silent."""

SLOWEST_SEND: Final = 30.0
"""Seconds that the other side may take to read what was sent."""

RETRY_MILLISECONDS: Final = 2000
MEDIA_TYPE: Final = "text/event-stream"
BEAT: Final = b": still here\n\n"

_MARK: Final = re.compile(r"[0-9]{1,18}")
_encoder: Final = msgspec.json.Encoder()

JobQuery = Annotated[list[UUID] | None, Query(alias="jobId", max_length=200, description="Only these jobs.")]
FileQuery = Annotated[UUID | None, Query(alias="fileId", description="Only this file's jobs.")]
ClientQuery = Annotated[UUID | None, Query(alias="clientApplicationId", description="Only this client application's.")]
ExtractorQuery = Annotated[UUID | None, Query(alias="clientApplicationExtractorId", description="Only this one's.")]
StatusQuery = Annotated[Status | None, Query(description="Only lines of this state.")]
LastEventId = Annotated[
    str | None, Header(alias="Last-Event-ID", description="Id of the last event that was seen: resumes after it.")
]


class LiveRoutes:
    """The stream."""

    def __init__(self, context: ApiContext) -> None:
        self._hub = context.live

    def router(self) -> APIRouter:
        """Return the route."""
        router = new_router("jobs", prefix="/extractor")
        stream = {"type": "string", "description": "Events `job` with a JobChange as data, or `reset`."}
        router.add_api_route(
            "/jobs/events",
            self.follow_jobs,
            methods=["GET"],
            responses=also(200, "Server-sent events, without end.", media_type=MEDIA_TYPE, schema=stream)
            | problems(400, 503),
        )
        return router

    async def follow_jobs(
        self,
        caller: CallerOf,
        job_ids: JobQuery = None,
        file_id: FileQuery = None,
        client_application_id: ClientQuery = None,
        extractor_id: ExtractorQuery = None,
        status: StatusQuery = None,
        last_event_id: LastEventId = None,
    ) -> Response:
        """Follow jobs live, all or those that are asked for, as server-sent events."""
        jobs = frozenset(job_ids or ())

        def matches(change: Change) -> bool:
            return (
                caller.sees(change.client_application_id)
                and (not jobs or change.job_id in jobs)
                and file_id in (None, change.file_id)
                and client_application_id in (None, change.client_application_id)
                and extractor_id in (None, change.client_application_extractor_id)
                and status in (None, change.status)
            )

        after = int(last_event_id) if last_event_id and _MARK.fullmatch(last_event_id) else None
        return _Stream(self._hub, matches, after)


class _Stream(Response):
    """Sends events until one of the two sides has had enough."""

    def __init__(self, hub: Hub, matches: Matches, after: int | None) -> None:
        super().__init__(media_type=MEDIA_TYPE, headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._hub = hub
        self._matches = matches
        self._after = after

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the stream; before its first byte the database may still be found away (503)."""
        if scope["method"] == "HEAD":
            await super().__call__(scope, receive, send)
            return
        with self._hub.watching(self._matches) as watcher:
            mark = await self._hub.begin(watcher, self._after)
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            sending = asyncio.create_task(_send_all(watcher, mark, send))
            gone = asyncio.create_task(_disconnected(receive))
            await asyncio.wait([sending, gone], return_when=asyncio.FIRST_COMPLETED)
            for task in (sending, gone):
                task.cancel()
            await asyncio.gather(sending, gone, return_exceptions=True)
            with suppress(Exception):
                await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send_all(watcher: Watcher, mark: int, send: Send) -> None:
    async for piece in _pieces(watcher, mark):
        async with asyncio.timeout(SLOWEST_SEND):
            await send({"type": "http.response.body", "body": piece, "more_body": True})


async def _pieces(watcher: Watcher, mark: int) -> AsyncIterator[bytes]:
    greeting = "reset" if watcher.is_lost else "hello"
    yield f"retry: {RETRY_MILLISECONDS}\nid: {mark}\nevent: {greeting}\ndata: {{}}\n\n".encode()
    while (news := await watcher.next(patience=HEARTBEAT)) is not None:
        yield b"".join(_event(sent.change, sent.mark) for sent in news) or BEAT


def _event(change: Change, mark: int) -> bytes:
    return b"id: %d\nevent: job\ndata: %b\n\n" % (mark, _encoder.encode(JobChange.of(change)))


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
