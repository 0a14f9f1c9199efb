"""The page of one file: its jobs side by side, and any two of their results compared."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fluxx.dashboard.comparing import Comparison, compared
from fluxx.dashboard.context import DashboardContext
from fluxx.dashboard.forms import an_id
from fluxx.dashboard.rendering import Renderer
from fluxx.dashboard.results import result_of
from fluxx.dashboard.seeing import Registered, Seeing, Shown
from fluxx.model.job import Extractor, Status
from fluxx.ports.jobs import JobFilter

MOST_JOBS: Final = 200
SOON: Final = timedelta(seconds=30)
"""A file without jobs after that is worth a word."""


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
        with_result = sorted(
            (each for each in shown if each.job.status is Status.SUCCEEDED),
            key=lambda each: each.job.completed_at or each.job.updated_at,
        )
        return self._renderer.page(
            request,
            "file.html",
            file=file,
            client_name=registered.client_name(file.client_application_id),
            shown=shown,
            expected=[] if shown else _active(registered, file.client_application_id),
            is_late=self._context.clock.now() - file.created_at > SOON,
            with_result=with_result,
            sides=await self._sides(request, with_result),
            is_live=not shown or any(not each.job.status.is_final for each in shown),
        )

    async def _sides(self, request: Request, with_result: Sequence[Shown]) -> Sides | None:
        """Compare the two that are asked for, or else that suit; None where there are no two."""
        asked = [request.query_params.get(side, "") for side in ("left", "right")]
        pair = pair_of(with_result, *asked)
        if pair is None:
            return None
        left, right = pair
        if left.job.result_sha256 == right.job.result_sha256 and left is not right:
            return Sides(left=left, right=right, trouble="Both results are the same, byte for byte.")
        results = [await result_of(each.job, self._context.blobs) for each in (left, right)]
        for result in results:
            if result is None or result.trouble is not None:
                return Sides(left=left, right=right, trouble=result.trouble if result else "There is no result.")
        return Sides(left=left, right=right, comparison=compared(*(each.value for each in results if each)))


def pair_of(with_result: Sequence[Shown], left: str, right: str) -> tuple[Shown, Shown] | None:
    """Return the two to compare: those whose ids are given, or else what suits.

    Beside a single one that is the run of the same extractor before it, or another extractor's newest. Where none is
    given, it is the newest runs of the two extractors that had a result first: that stays while others come in. The one
    that was registered first stands left. ``with_result`` is in the order of completion.
    """
    if len(with_result) < 2:  # noqa: PLR2004 - it takes two
        return None
    by_id = {str(each.job.job_id): each for each in with_result}
    first, second = by_id.get(left), by_id.get(right)
    if first and second:
        return first, second
    if second:
        return _beside(second, with_result), second
    if first:
        return first, _beside(first, with_result)
    newest = {each.job.client_application_extractor_id: each for each in with_result}
    if len(newest) < 2:  # noqa: PLR2004 - two runs of the only extractor
        return with_result[-2], with_result[-1]
    one, another = sorted([*newest][:2])  # ids ascend with time
    return newest[one], newest[another]


def _beside(one: Shown, with_result: Sequence[Shown]) -> Shown:
    extractor = one.job.client_application_extractor_id
    others = [each for each in with_result if each is not one]
    earlier = with_result[: with_result.index(one)]
    before = [each for each in earlier if each.job.client_application_extractor_id == extractor]
    foreign = [each for each in others if each.job.client_application_extractor_id != extractor]
    return (before or foreign or others)[-1]


def _active(registered: Registered, client_application_id: UUID) -> Sequence[Extractor]:
    """Return the extractors of which a job is to be expected."""
    return [
        each
        for each in registered.extractors.values()
        if each.is_active and each.client_application_id == client_application_id
    ]
