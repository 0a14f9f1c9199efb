"""Retry or cancel many jobs at once: preview, confirmation, then step by step until all are done.

Nothing is remembered between the steps: where the work stands is in the form that asks for the next one. So any
replica can go on, a closed page stops it, and a step that is sent twice does nothing twice: a job is
retried once however often it is asked, and one that is final can't be cancelled again.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fluxx.dashboard.context import DashboardContext, Visitor
from fluxx.dashboard.filters import Wanted
from fluxx.dashboard.forms import Fields, fields_of
from fluxx.dashboard.jobs import matching
from fluxx.dashboard.rendering import Renderer
from fluxx.errors import BadInput, Conflict, NotFound
from fluxx.model.job import FINAL, Job
from fluxx.ports.jobs import Position

STEP: Final = 100
"""Jobs done by one request."""

WALK: Final = 500
MOST: Final = 20_000
"""The preview counts no further."""

ACTIONS: Final = ("retry", "cancel")


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """Where a bulk action stands. ``after`` is the last job looked at, ``before`` leaves out what came later."""

    action: str
    total: int
    done: int = 0
    passed: int = 0
    after: UUID | None = None
    before: datetime | None = None
    is_over: bool = False

    @classmethod
    def of(cls, fields: Fields) -> "Progress":
        """Return what a form says; raise ``BadInput``."""
        action = fields.text("action")
        if action not in ACTIONS:
            raise BadInput("action is neither retry nor cancel.", field="action", malformed=True)
        return cls(
            action=action,
            total=fields.count("total"),
            done=fields.count("done"),
            passed=fields.count("passed"),
            after=fields.id("after"),
            before=fields.moment("before"),
        )


class BulkPages:
    """``/dashboard/bulk``: a GET-like preview by POST (a selection may be long), and the steps."""

    def __init__(self, context: DashboardContext, renderer: Renderer) -> None:
        self._context = context
        self._renderer = renderer

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/dashboard/bulk", self.preview, methods=["POST"]),
            Route("/dashboard/bulk/step", self.step, methods=["POST"]),
        ]

    async def preview(self, request: Request) -> Response:
        """Say how many jobs it would be, and ask."""
        fields = await fields_of(request)
        visitor = self._renderer.visitor(request)
        progress, selected, wanted = Progress.of(fields), fields.ids("job"), _wanted(fields)
        if fields.text("which") != "matching" and not selected:
            return self._renderer.page(request, "bulk_none.html", wanted=wanted)
        jobs = await self._all(progress.action, selected, wanted, visitor)
        begun = msgspec.structs.replace(progress, total=min(len(jobs), MOST), before=self._context.clock.now())
        return self._renderer.page(
            request, "bulk.html", progress=begun, selected=selected, wanted=wanted, is_more=len(jobs) > MOST
        )

    async def step(self, request: Request) -> Response:
        """Do the next few jobs and show how far it is."""
        fields = await fields_of(request)
        visitor = self._renderer.visitor(request)
        progress, selected, wanted = Progress.of(fields), fields.ids("job"), _wanted(fields)
        jobs = await self._next(progress, selected, wanted, visitor)
        results = await asyncio.gather(*(self._act(progress.action, job) for job in jobs))
        made = msgspec.structs.replace(
            progress,
            done=progress.done + sum(results),
            passed=progress.passed + len(results) - sum(results),
            after=jobs[-1].job_id if jobs else progress.after,
            is_over=len(jobs) < STEP,
        )
        return self._renderer.page(request, "bulk_progress.html", progress=made, selected=selected, wanted=wanted)

    async def _act(self, action: str, job: Job) -> bool:
        """Do it; False where somebody else was quicker or the job is gone."""
        intervention = self._context.intervention
        try:
            await (intervention.retry(job.job_id) if action == "retry" else intervention.cancel(job.job_id))
        except (Conflict, NotFound):
            return False
        return True

    async def _all(self, action: str, selected: Sequence[UUID], wanted: Wanted, visitor: Visitor) -> Sequence[Job]:
        """Return the jobs that the action fits, one more than ``MOST`` where there are more."""
        found: list[Job] = []
        progress = Progress(action=action, total=0)
        while True:
            some, last, is_end = await self._walk(progress, selected, wanted, visitor, WALK)
            found.extend(some)
            if is_end or len(found) > MOST:
                return found[: MOST + 1]
            progress = msgspec.structs.replace(progress, after=last)

    async def _next(
        self, progress: Progress, selected: Sequence[UUID], wanted: Wanted, visitor: Visitor
    ) -> Sequence[Job]:
        """Return the next ``STEP`` jobs that the action fits; fewer at the end."""
        found: list[Job] = []
        while True:
            some, last, is_end = await self._walk(progress, selected, wanted, visitor, WALK)
            found.extend(some)
            if is_end or len(found) >= STEP:
                return found[:STEP]
            progress = msgspec.structs.replace(progress, after=last)

    async def _walk(
        self, progress: Progress, selected: Sequence[UUID], wanted: Wanted, visitor: Visitor, limit: int
    ) -> tuple[list[Job], UUID | None, bool]:
        """Return the fitting ones of the next jobs, the last one looked at, and whether it was the last of all."""
        looked = await (
            self._selected(progress, selected, visitor, limit)
            if selected
            else self._matching(progress, wanted, visitor, limit)
        )
        fitting = [job for job in looked if _fits(job, progress)]
        return fitting, looked[-1].job_id if looked else None, len(looked) < limit

    async def _selected(
        self, progress: Progress, selected: Sequence[UUID], visitor: Visitor, limit: int
    ) -> Sequence[Job]:
        order = sorted(set(selected), reverse=True)
        if progress.after:
            order = [each for each in order if each < progress.after]
        jobs = []
        for job_id in order[:limit]:
            with suppress(NotFound):  # forgotten since it was selected
                job = await self._context.reader.job(job_id)
                visitor.check(job.client_application_id, f"There is no job {job_id}.")
                jobs.append(job)
        return jobs

    async def _matching(self, progress: Progress, wanted: Wanted, visitor: Visitor, limit: int) -> Sequence[Job]:
        job_filter = await matching(self._context, wanted, visitor)
        if job_filter is None:
            return []
        after = None
        if progress.after:
            last = await self._context.reader.job(progress.after)
            after = Position(last.created_at, last.job_id)
        return await self._context.reader.jobs(job_filter, limit=limit, after=after)


def _fits(job: Job, progress: Progress) -> bool:
    """Whether the action can be done to the job: only what ended is retried, only what lives is cancelled."""
    is_new = progress.before is not None and job.created_at > progress.before
    return not is_new and (job.status in FINAL) == (progress.action == "retry")


def _wanted(fields: Fields) -> Wanted:
    return Wanted.of({name: fields.text(name) for name in Wanted.__struct_fields__})
