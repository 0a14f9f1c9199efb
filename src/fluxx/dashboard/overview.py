"""The overview: how much is going on, how well it goes, and what is wrong now."""

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from fluxx.dashboard.charts import chart_of
from fluxx.dashboard.context import DashboardContext, Visitor
from fluxx.dashboard.glance import SLOW_SECONDS, Glance
from fluxx.dashboard.rendering import Renderer
from fluxx.dashboard.seeing import Registered, Seeing
from fluxx.dashboard.trouble import LOOKED_AT, RECENT_MINUTES, troubles
from fluxx.model.counts import Counts, total
from fluxx.model.job import Extractor, Job, Status
from fluxx.ports.jobs import JobFilter
from fluxx.ports.observing import Backlog

SPANS: Final = {1: 60, 3: 90, 12: 72, 24: 96}
"""Hours that the chart can show, and into how many bars."""

USUAL_SPAN: Final = 3
DAY_MINUTES: Final = 24 * 60
FAILURES: Final = 6


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One extractor in the table: its counts since the beginning, and those of the last hour."""

    extractor: Extractor
    client_name: str
    all_time: Counts
    hour: Counts


class OverviewPages:
    """``/dashboard``."""

    def __init__(self, context: DashboardContext, renderer: Renderer, glance: Glance) -> None:
        self._context = context
        self._renderer = renderer
        self._glance = glance
        self._seeing = Seeing(context)

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/", self.go, methods=["GET"]),
            Route("/dashboard", self.show, methods=["GET"]),
        ]

    async def go(self, _request: Request) -> Response:
        """Lead a browser that was only given the address to the page."""
        return RedirectResponse("/dashboard", status_code=303)

    async def show(self, request: Request) -> Response:
        """Show the overview."""
        visitor = self._renderer.visitor(request)
        registered = await self._seeing.registered(visitor)
        hours = _hours(request)
        ours = None if visitor.client_application_id is None else [*registered.extractors]
        now = self._context.clock.now()
        all_time = _seen(await self._glance.since_the_beginning(), registered)
        backlog = await self._backlog(visitor)
        workers = await self._workers(visitor)
        recent = _seen(await self._glance.last(RECENT_MINUTES), registered)
        hour = await self._glance.last(60)
        failed = await self._failed(visitor)
        return self._renderer.page(
            request,
            "overview.html",
            now_counts=total([*all_time.values()]),
            day=total([*_seen(await self._glance.last(DAY_MINUTES), registered).values()]),
            backlog=backlog,
            workers=workers,
            troubles=troubles(
                backlog,
                workers=workers or [],
                recent=recent,
                all_time=all_time,
                extractors=registered.extractors,
                failed=failed,
                now=now,
            ),
            chart=chart_of(await self._glance.minutes(hours, ours), now=now, hours=hours, bars=SPANS[hours]),
            hours=hours,
            spans=SPANS,
            lines=_lines(registered, all_time, hour),
            failures=await self._seeing.shown(failed[:FAILURES], registered),
        )

    async def _backlog(self, visitor: Visitor) -> Backlog:
        """Return what waits the longest; it may be another's, so only who sees all is told."""
        if visitor.client_application_id is None:
            return await self._glance.backlog()
        return Backlog()

    async def _workers(self, visitor: Visitor) -> Sequence[str] | None:
        """Return the workers that are there; None for a visitor who sees one client application: hosts are not its."""
        if visitor.client_application_id is None:
            return await self._glance.shared("workers", self._context.presence.workers, seconds=SLOW_SECONDS)
        return None

    async def _failed(self, visitor: Visitor) -> Sequence[Job]:
        client = visitor.client_application_id
        wanted = JobFilter(status=Status.FAILED, client_application_id=client)
        return await self._glance.shared(("failed", client), lambda: self._context.reader.jobs(wanted, limit=LOOKED_AT))


def _hours(request: Request) -> int:
    asked = request.query_params.get("hours", "")
    return next((hours for hours in SPANS if asked == str(hours)), USUAL_SPAN)


def _seen(counts: Mapping[UUID, Counts], registered: Registered) -> Mapping[UUID, Counts]:
    return {key: value for key, value in counts.items() if key in registered.extractors}


def _lines(registered: Registered, all_time: Mapping[UUID, Counts], hour: Mapping[UUID, Counts]) -> Sequence[Line]:
    return [
        Line(
            extractor=extractor,
            client_name=registered.client_name(extractor.client_application_id),
            all_time=all_time.get(key, Counts()),
            hour=hour.get(key, Counts()),
        )
        for key, extractor in registered.extractors.items()
    ]
