"""The page of one file: its jobs side by side, and any two of their results compared."""

from collections.abc import Sequence
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fluxx.dashboard.comparing import Comparison, compared
from fluxx.dashboard.context import DashboardContext
from fluxx.dashboard.forms import an_id
from fluxx.dashboard.rendering import Renderer
from fluxx.dashboard.results import result_of
from fluxx.dashboard.seeing import Seeing, Shown
from fluxx.model.job import Status
from fluxx.ports.jobs import JobFilter

MOST_JOBS: Final = 200


class Sides(msgspec.Struct, frozen=True, kw_only=True):
    """The two jobs compared, and how their results compare; or in ``trouble`` why they can't be."""

    left: Shown
    right: Shown
    comparison: Comparison | None = None
    trouble: str | None = None


class FilePages:
    """``/dashboard/file/{fileId}``."""

    def __init__(self, context: DashboardContext, renderer: Renderer) -> None:
        self._context = context
        self._renderer = renderer
        self._seeing = Seeing(context)

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [Route("/dashboard/file/{fileId}", self.show, methods=["GET"])]

    async def show(self, request: Request) -> Response:
        """Show the file; ``left`` and ``right`` in the address name the jobs to compare."""
        visitor = self._renderer.visitor(request)
        file = await self._context.files.file(an_id(request.path_params["fileId"], field="fileId"))
        visitor.check(file.client_application_id, f"There is no file {file.file_id}.")
        registered = await self._seeing.registered(visitor)
        jobs = await self._context.reader.jobs(JobFilter(file_id=file.file_id), limit=MOST_JOBS)
        shown = (await self._seeing.shown(jobs, registered))[::-1]
        with_result = [each for each in shown if each.job.status is Status.SUCCEEDED]
        return self._renderer.page(
            request,
            "file.html",
            file=file,
            client_name=registered.client_name(file.client_application_id),
            shown=shown,
            with_result=with_result,
            sides=await self._sides(request, with_result),
            is_live=not shown or any(not each.job.status.is_final for each in shown),
        )

    async def _sides(self, request: Request, with_result: Sequence[Shown]) -> Sides | None:
        """Compare the two that are asked for; else the first two, if there are two."""
        by_id = {str(each.job.job_id): each for each in with_result}
        asked = [by_id.get(request.query_params.get(side, "")) for side in ("left", "right")]
        left, right = (asked[0], asked[1]) if all(asked) else (*with_result[:2], None, None)[:2]
        if left is None or right is None:
            return None
        if left.job.result_sha256 == right.job.result_sha256 and left is not right:
            return Sides(left=left, right=right, trouble="Both results are the same, byte for byte.")
        results = [await result_of(each.job, self._context.blobs) for each in (left, right)]
        for result in results:
            if result is None or result.trouble is not None:
                return Sides(left=left, right=right, trouble=result.trouble if result else "There is no result.")
        return Sides(left=left, right=right, comparison=compared(*(each.value for each in results if each)))
