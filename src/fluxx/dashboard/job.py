"""The page of one job: what, when, why, and what can be done about it."""

import shlex
from collections.abc import Sequence
from uuid import UUID

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from fluxx.dashboard.context import DashboardContext, Visitor
from fluxx.dashboard.forms import an_id, fields_of
from fluxx.dashboard.rendering import Renderer
from fluxx.dashboard.results import result_of
from fluxx.dashboard.seeing import Seeing
from fluxx.dashboard.timeline import timeline_of
from fluxx.dashboard.tree import search, tree_of
from fluxx.errors import Conflict
from fluxx.model.job import Job, JobStatus, Status
from fluxx.model.kinds import kind_of
from fluxx.model.why import Situation, limits_of, why


class JobPages:
    """``/dashboard/job/{jobId}``."""

    def __init__(self, context: DashboardContext, renderer: Renderer) -> None:
        self._context = context
        self._renderer = renderer
        self._seeing = Seeing(context)

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/dashboard/job/{jobId}", self.show, methods=["GET"]),
            Route("/dashboard/job/{jobId}/retry", self.retry, methods=["POST"]),
            Route("/dashboard/job/{jobId}/cancel", self.cancel, methods=["POST"]),
        ]

    async def show(self, request: Request) -> Response:
        """Show the job."""
        context = self._context
        visitor = self._renderer.visitor(request)
        job = await self._job(request, visitor)
        now = context.clock.now()
        registered = await self._seeing.registered(visitor)
        history = (await context.reader.histories([job.job_id]))[job.job_id]
        extractor = registered.extractors.get(job.client_application_extractor_id)
        situation = Situation(
            job=job,
            history=history,
            extractor=registered.extractor_name(job.client_application_extractor_id),
            is_active=extractor is not None and extractor.is_active,
            limits=context.limits,
            now=now,
        )
        result = await result_of(job, context.blobs)
        words = request.query_params.get("find", "").strip()
        return self._renderer.page(
            request,
            "job.html",
            shown=(await self._seeing.shown([job], registered))[0],
            extractor=extractor,
            why=why(situation),
            kind=kind_of(job.status_message) if job.status is Status.FAILED else None,
            limits=limits_of(job, context.limits, now),
            timeline=timeline_of(history),
            submit_answer=_submit_answer(history),
            events=await context.observer.events(job.job_id),
            result=result,
            tree=tree_of(result.value) if result and result.trouble is None else None,
            find=words,
            found=search(result.value, words) if result and result.trouble is None and words else None,
            curl=_curl(request, job, with_key=context.knows is not None),
            problem=request.query_params.get("problem", ""),
        )

    async def retry(self, request: Request) -> Response:
        """Queue the same work again and lead to the new job."""
        await fields_of(request)
        job = await self._job(request, self._renderer.visitor(request))
        try:
            new = await self._context.intervention.retry(job.job_id)
        except Conflict:
            return _to(job.job_id, "?problem=alive")
        return _to(new.job_id)

    async def cancel(self, request: Request) -> Response:
        """Fail the job; pressed twice, it is as if once."""
        await fields_of(request)
        job = await self._job(request, self._renderer.visitor(request))
        try:
            await self._context.intervention.cancel(job.job_id)
        except Conflict:
            return _to(job.job_id, "?problem=final")
        return _to(job.job_id)

    async def _job(self, request: Request, visitor: Visitor) -> Job:
        job = await self._context.reader.job(an_id(request.path_params["jobId"], field="jobId"))
        visitor.check(job.client_application_id, f"There is no job {job.job_id}.")
        return job


def _to(job_id: UUID, query: str = "") -> Response:
    return RedirectResponse(f"/dashboard/job/{job_id}{query}", status_code=303)


def _submit_answer(history: Sequence[JobStatus]) -> str | None:
    """Return what the extractor answered when it took the job."""
    return next((line.message for line in history if line.status is Status.STARTED), None)


def _curl(request: Request, job: Job, *, with_key: bool) -> str:
    """Return the command that asks the API for the job; the key itself is left to the shell."""
    base = f"{request.url.scheme}://{request.url.netloc}"
    header = "-H 'Authorization: Bearer '\"$FLUXX_KEY\" " if with_key else ""
    return f"curl -sS {header}{shlex.quote(f'{base}/extractor/job/{job.job_id}')}"
