"""The extractor-job API: what happened to a file, when, and why (story 14); cancel, retry, result."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from fluxx.api.access.callers import Caller, CallerOf
from fluxx.api.blob_response import Blob, blob_response
from fluxx.api.context import ApiContext
from fluxx.api.openapi import also, answer, new_router, problems, returns
from fluxx.api.paging import DEFAULT_LIMIT, Cursor, Limit, cursor_of, position_of
from fluxx.api.schemas import HistoryLine, JobDetails, JobPage
from fluxx.errors import NotFound
from fluxx.model.job import Job, JobStatus, Status
from fluxx.ports.jobs import JobFilter, Position

JobId = Annotated[UUID, Path(alias="jobId", description="The job's id.")]
FileId = Annotated[UUID, Path(alias="fileId", description="The file's id.")]
StatusQuery = Annotated[Status | None, Query(alias="status", description="Only jobs in this state.")]
ClientApplicationQuery = Annotated[
    UUID | None, Query(alias="clientApplicationId", description="Only this client application's jobs.")
]
ExtractorQuery = Annotated[
    UUID | None, Query(alias="clientApplicationExtractorId", description="Only this extractor's jobs.")
]


class JobRoutes:
    """The routes under ``/extractor``."""

    def __init__(self, context: ApiContext) -> None:
        self._reader = context.reader
        self._files = context.files
        self._blobs = context.blobs
        self._intervention = context.intervention

    def router(self) -> APIRouter:
        """Return the routes."""
        router = new_router("jobs", prefix="/extractor")
        self._add_listings(router)
        self._add_job(router)
        self._add_interventions(router)
        return router

    def _add_listings(self, router: APIRouter) -> None:
        page = returns(200, "Jobs, newest first.", JobPage)
        router.add_api_route("/jobs", self.list_jobs, methods=["GET"], responses=page | problems(400, 503))
        router.add_api_route(
            "/job/file/{fileId}", self.list_jobs_of_file, methods=["GET"], responses=page | problems(400, 404, 503)
        )

    def _add_job(self, router: APIRouter) -> None:
        router.add_api_route(
            "/job/{jobId}",
            self.get_job,
            methods=["GET"],
            responses=returns(200, "The job.", JobDetails) | problems(400, 404, 503),
        )
        router.add_api_route(
            "/job/{jobId}/result",
            self.get_result,
            methods=["GET"],
            responses=also(200, "Exactly what the extractor sent.", media_type="application/json")
            | also(206, "A part of it.", media_type="application/json")
            | also(304, "Not changed.")
            | problems(400, 404, 416, 503),
        )

    def _add_interventions(self, router: APIRouter) -> None:
        location = {"Location": {"description": "Path of the new job.", "schema": {"type": "string"}}}
        router.add_api_route(
            "/job/{jobId}/cancel",
            self.cancel_job,
            methods=["POST"],
            status_code=HTTPStatus.ACCEPTED,
            responses=returns(202, "The job, failed now.", JobDetails) | problems(400, 404, 409, 503),
        )
        router.add_api_route(
            "/job/{jobId}/retry",
            self.retry_job,
            methods=["POST"],
            status_code=HTTPStatus.CREATED,
            responses=returns(201, "The new job.", JobDetails, headers=location) | problems(400, 404, 409, 503),
        )

    async def list_jobs(
        self,
        caller: CallerOf,
        status: StatusQuery = None,
        client_application_id: ClientApplicationQuery = None,
        client_application_extractor_id: ExtractorQuery = None,
        limit: Limit = DEFAULT_LIMIT,
        cursor: Cursor = None,
    ) -> Response:
        """List jobs, newest first, all or those that are asked for."""
        wanted = JobFilter(
            status=status,
            client_application_id=client_application_id,
            client_application_extractor_id=client_application_extractor_id,
        )
        return answer(await self._page(wanted, caller, limit, cursor))

    async def list_jobs_of_file(
        self, file_id: FileId, caller: CallerOf, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
    ) -> Response:
        """List the jobs of a file, newest first."""
        page = await self._page(JobFilter(file_id=file_id), caller, limit, cursor)
        if not page.items:
            file = await self._files.file(file_id)
            caller.check(file.client_application_id, f"There is no file {file_id}.")
        return answer(page)

    async def get_job(self, job_id: JobId, caller: CallerOf) -> Response:
        """Return one job with its history."""
        job, history = await self._reader.job_with_history(job_id)
        caller.check(job.client_application_id, f"There is no job {job_id}.")
        return answer(_details(job, history))

    async def get_result(self, request: Request, job_id: JobId, caller: CallerOf) -> Response:
        """Return the job's result, byte for byte, whole or in part (`Range`)."""
        job = await self._job(job_id, caller)
        if job.extractor_response is None or job.result_size is None or job.result_sha256 is None:
            raise NotFound(f"Job {job_id} is {job.status}: it has no result.")
        blob = Blob(
            path=job.extractor_response,
            size=job.result_size,
            sha256=job.result_sha256,
            content_type="application/json",
        )
        return blob_response(request, self._blobs, blob)

    async def cancel_job(self, job_id: JobId, caller: CallerOf) -> Response:
        """Cancel a job: it fails with a reason, and work under way for it is dropped."""
        await self._job(job_id, caller)
        job = await self._intervention.cancel(job_id)
        return answer(_details(*await self._reader.job_with_history(job.job_id)), 202)

    async def retry_job(self, job_id: JobId, caller: CallerOf) -> Response:
        """Queue a new job for the same file and extractor; asked twice, it is the same new job."""
        await self._job(job_id, caller)
        job = await self._intervention.retry(job_id)
        location = f"/extractor/job/{job.job_id}"
        details = _details(*await self._reader.job_with_history(job.job_id))
        return answer(details, 201, headers={"Location": location})

    async def _job(self, job_id: UUID, caller: Caller) -> Job:
        job = await self._reader.job(job_id)
        caller.check(job.client_application_id, f"There is no job {job_id}.")
        return job

    async def _page(self, wanted: JobFilter, caller: Caller, limit: int, cursor: str | None) -> JobPage:
        after = None if cursor is None else position_of(cursor)
        own = caller.client_application_id or wanted.client_application_id
        if wanted.client_application_id not in (None, own):
            return JobPage(items=[], next_cursor=None)
        wanted = replace(wanted, client_application_id=own)
        found = await self._reader.jobs_with_histories(wanted, limit=limit + 1, after=after)
        shown = [job for job, _ in found[:limit]]
        more = cursor_of(Position(shown[-1].created_at, shown[-1].job_id)) if len(found) > limit else None
        return JobPage(items=[_details(*one) for one in found[:limit]], next_cursor=more)


def _details(job: Job, history: Sequence[JobStatus]) -> JobDetails:
    return JobDetails.of(job, [HistoryLine.of(line) for line in history])
