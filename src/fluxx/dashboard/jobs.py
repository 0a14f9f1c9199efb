"""The page Jobs: newest first, filtered by its address, older ones by keyset; and where a search leads."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

import msgspec
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from fluxx.dashboard.context import DashboardContext, Visitor
from fluxx.dashboard.filters import Wanted, visible
from fluxx.dashboard.forms import an_id
from fluxx.dashboard.rendering import Renderer
from fluxx.dashboard.seeing import Seeing
from fluxx.errors import NotFound
from fluxx.model.job import Job, Status
from fluxx.ports.jobs import JobFilter, Position

PAGE: Final = 50
FILES_OF_A_NAME: Final = 200


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """One page of jobs, and whether there are older ones."""

    jobs: Sequence[Job]
    has_more: bool


class JobsPages:
    """``/dashboard/jobs``."""

    def __init__(self, context: DashboardContext, renderer: Renderer) -> None:
        self._context = context
        self._renderer = renderer
        self._seeing = Seeing(context)

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [Route("/dashboard/jobs", self.show, methods=["GET"])]

    async def show(self, request: Request) -> Response:
        """Show a page of jobs; a search for an id leads to the job or file itself."""
        visitor = self._renderer.visitor(request)
        wanted = Wanted.of(request.query_params)
        if found := await self._place_of(wanted.search, visitor):
            return RedirectResponse(found, status_code=303)
        after = request.query_params.get("after", "")
        listing = await self._listing(wanted, visitor, after)
        registered = await self._seeing.registered(visitor)
        return self._renderer.page(
            request,
            "jobs.html",
            wanted=wanted,
            shown=await self._seeing.shown(listing.jobs, registered),
            older=wanted.query(after=listing.jobs[-1].job_id) if listing.has_more else None,
            after=after,
            registered=registered,
            statuses=[status.value for status in Status],
        )

    async def _listing(self, wanted: Wanted, visitor: Visitor, after: str) -> Listing:
        job_filter = await matching(self._context, wanted, visitor)
        if job_filter is None:
            return Listing(jobs=[], has_more=False)
        position = await self._position(after, visitor) if after else None
        found = await self._context.reader.jobs(job_filter, limit=PAGE + 1, after=position)
        return Listing(jobs=found[:PAGE], has_more=len(found) > PAGE)

    async def _position(self, after: str, visitor: Visitor) -> Position:
        job = await self._context.reader.job(an_id(after, field="after"))
        visitor.check(job.client_application_id, f"There is no job {job.job_id}.")
        return Position(job.created_at, job.job_id)

    async def _place_of(self, search: str, visitor: Visitor) -> str | None:
        """Return the page of the job or file whose id was searched for."""
        try:
            wanted = UUID(search)
        except ValueError:
            return None
        try:
            job = await self._context.reader.job(wanted)
            return f"/dashboard/job/{wanted}" if visitor.sees(job.client_application_id) else None
        except NotFound:
            found = (await self._context.files.files([wanted])).get(wanted)
            return f"/dashboard/file/{wanted}" if found and visitor.sees(found.client_application_id) else None


async def matching(context: DashboardContext, wanted: Wanted, visitor: Visitor) -> JobFilter | None:
    """Return the filter of all jobs that match, within what the visitor sees; None where none can."""
    job_filter = visible(wanted.job_filter(), visitor)
    if job_filter is None or not wanted.search:
        return job_filter
    files = await context.files.files_named(wanted.search, limit=FILES_OF_A_NAME)
    ids = [each.file_id for each in files if visitor.sees(each.client_application_id)]
    return replace(job_filter, file_ids=ids) if ids else None
