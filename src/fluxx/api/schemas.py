"""What the API answers with: each shape told once, for the bytes on the wire and for OpenAPI.

Encoded by msgspec (``openapi.answer``), described to OpenAPI by the same structs (``openapi.py``).
"""

from datetime import datetime
from typing import Annotated, Final, Self, TypeAlias
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from fluxx.model.job import ActiveExtractor, ClientApplication, Extractor, File, Job, JobStatus, Status
from fluxx.ports.changes import Change

_ID: Final = "01990b6e-2f3c-7d41-9a55-0c2c8f6e1b7a"
_SHA256: Final = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

Id: TypeAlias = Annotated[UUID, Meta(examples=[_ID])]
Moment: TypeAlias = Annotated[datetime, Meta(tz=True, examples=["2025-11-29T16:08:30.123456Z"])]
Url: TypeAlias = Annotated[str, Meta(max_length=500, examples=["https://ocr.example.com/extract"])]
Sha256: TypeAlias = Annotated[str, Meta(description="In hex.", examples=[_SHA256])]


class Answer(Struct, rename="camel"):
    """The mould of all answers: camelCase keys."""


class ClientApplicationDetails(Answer):
    """An application that hands files to the platform."""

    client_application_id: Id
    name: Annotated[str, Meta(examples=["Invoices"])]
    is_active: bool
    created_at: Moment

    @classmethod
    def of(cls, one: ClientApplication) -> Self:
        """Return what is shown of ``one``."""
        return cls(
            client_application_id=one.client_application_id,
            name=one.name,
            is_active=one.is_active,
            created_at=one.created_at,
        )


class ActiveExtractorDetails(Answer):
    """An active extractor, as the extraction service needs it (story 2)."""

    client_application_extractor_id: Id
    extraction_url: Url
    polling_url: Url | UnsetType = UNSET

    @classmethod
    def of(cls, one: ActiveExtractor) -> Self:
        """Return what is shown of ``one``; ``pollingUrl`` only if defined (story 3)."""
        return cls(
            client_application_extractor_id=one.client_application_extractor_id,
            extraction_url=one.extraction_url,
            polling_url=one.polling_url or UNSET,
        )


class ExtractorDetails(Answer, kw_only=True):
    """A registered extractor, active or not. Its API key is never shown."""

    client_application_extractor_id: Id
    client_application_id: Id
    name: Annotated[str, Meta(examples=["OCR"])]
    extraction_url: Url
    polling_url: Url | UnsetType = UNSET
    is_active: bool
    created_at: Moment

    @classmethod
    def of(cls, one: Extractor) -> Self:
        """Return what is shown of ``one``."""
        return cls(
            client_application_extractor_id=one.client_application_extractor_id,
            client_application_id=one.client_application_id,
            name=one.name,
            extraction_url=one.extraction_url,
            polling_url=one.polling_url or UNSET,
            is_active=one.is_active,
            created_at=one.created_at,
        )


class AcceptedUpload(Answer):
    """The file is stored and announced; its jobs follow."""

    file_id: Id


class FileDetails(Answer):
    """A file. ``size`` and ``sha256`` are null for files that are kept upstream."""

    file_id: Id
    client_application_id: Id
    file_name: Annotated[str, Meta(examples=["invoice.pdf"])]
    content_type: Annotated[str, Meta(examples=["application/pdf"])]
    size: Annotated[int, Meta(description="In bytes.")] | None
    sha256: Sha256 | None
    created_at: Moment
    jobs: Annotated[str, Meta(description="Path of the file's jobs.", examples=[f"/extractor/job/file/{_ID}"])]

    @classmethod
    def of(cls, one: File) -> Self:
        """Return what is shown of ``one``."""
        return cls(
            file_id=one.file_id,
            client_application_id=one.client_application_id,
            file_name=one.file_name,
            content_type=one.content_type,
            size=one.size,
            sha256=one.sha256,
            created_at=one.created_at,
            jobs=f"/extractor/job/file/{one.file_id}",
        )


class HistoryLine(Answer):
    """One line of a job's history."""

    status: Status
    message: Annotated[str, Meta(examples=["Not ready at poll 1."])] | None
    attempt_number: Annotated[int, Meta(description="Answered polls so far.")]
    timestamp: Moment

    @classmethod
    def of(cls, one: JobStatus) -> Self:
        """Return what is shown of ``one``."""
        return cls(status=one.status, message=one.message, attempt_number=one.attempt_number, timestamp=one.timestamp)


class JobDetails(Answer):
    """One extractor's work on one file, with its history, oldest first (story 14)."""

    job_id: Id
    file_id: Id
    client_application_extractor_id: Id
    status: Status
    status_message: Annotated[str, Meta(description="Why the job is where it is.")] | None
    created_at: Moment
    updated_at: Moment
    completed_at: Moment | None
    poll_attempt_count: Annotated[int, Meta(description="Answered polls so far.")]
    result_path: Annotated[str, Meta(description="Path of the result's blob, once there is one.")] | None
    result_size: Annotated[int, Meta(description="In bytes.")] | None
    result_sha256: Sha256 | None
    history: list[HistoryLine]

    @classmethod
    def of(cls, one: Job, history: list[HistoryLine]) -> Self:
        """Return what is shown of ``one``."""
        return cls(
            job_id=one.job_id,
            file_id=one.file_id,
            client_application_extractor_id=one.client_application_extractor_id,
            status=one.status,
            status_message=one.status_message,
            created_at=one.created_at,
            updated_at=one.updated_at,
            completed_at=one.completed_at,
            poll_attempt_count=one.poll_attempt_count,
            result_path=one.extractor_response,
            result_size=one.result_size,
            result_sha256=one.result_sha256,
            history=history,
        )


class JobChange(Answer, kw_only=True):
    """A line of a job's history as it is written, for those who follow jobs live."""

    job_id: Id
    file_id: Id
    client_application_id: Id
    client_application_extractor_id: Id
    status: Status
    message: str | None
    attempt_number: Annotated[int, Meta(description="Answered polls so far.")]
    timestamp: Moment

    @classmethod
    def of(cls, one: Change) -> Self:
        """Return what is shown of ``one``."""
        return cls(
            job_id=one.job_id,
            file_id=one.file_id,
            client_application_id=one.client_application_id,
            client_application_extractor_id=one.client_application_extractor_id,
            status=one.status,
            message=one.message,
            attempt_number=one.attempt_number,
            timestamp=one.timestamp,
        )


class JobPage(Answer):
    """Jobs, newest first; ``nextCursor`` leads to older ones and is null on the last page."""

    items: list[JobDetails]
    next_cursor: Annotated[str, Meta(description="Opaque: give it back as `cursor`.")] | None


class Health(Answer):
    """The process answers."""

    status: Annotated[str, Meta(examples=["ok"])]


class Readiness(Answer):
    """Everything that the service stands on answers."""

    status: Annotated[str, Meta(examples=["ready"])]
    checks: Annotated[dict[str, str], Meta(description="Each part, and `ok`.", examples=[{"database": "ok"}])]


class Complaint(Answer):
    """One thing that is wrong with a request."""

    field: Annotated[str, Meta(examples=["extractionUrl"])]
    message: Annotated[str, Meta(examples=["Field required"])]


class Problem(Answer, kw_only=True):
    """What went wrong (RFC 9457), as `application/problem+json`."""

    type: str = "about:blank"
    title: Annotated[str, Meta(description="The status in words.", examples=["Not Found"])]
    status: Annotated[int, Meta(ge=400, le=599, examples=[404])]
    detail: Annotated[str, Meta(description="For a person.", examples=["There is no job 01990b6e-…."])]
    field: Annotated[str, Meta(description="The part of the request that is wrong.")] | UnsetType = UNSET
    errors: Annotated[list[Complaint], Meta(description="All that is wrong with the request.")] | UnsetType = UNSET
    checks: Annotated[dict[str, str], Meta(description="What `/readyz` found, by part.")] | UnsetType = UNSET


SHAPES: Final[tuple[type[Struct], ...]] = (
    ClientApplicationDetails,
    ActiveExtractorDetails,
    ExtractorDetails,
    AcceptedUpload,
    FileDetails,
    JobDetails,
    JobPage,
    Health,
    Readiness,
    Problem,
)
"""Those that routes name in OpenAPI; what they are made of comes along."""
