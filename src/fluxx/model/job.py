"""The words of the stories as values: client application, extractor, file, job, job status.

Instances are immutable rows; a changed job is a new instance (``msgspec.structs.replace``).
Every ``datetime`` is aware and in UTC.
"""

from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec


class Status(StrEnum):
    """The states of a job. ``Succeeded`` and ``Failed`` are final; nothing leaves them."""

    QUEUED = "Queued"
    STARTED = "Started"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"

    @property
    def is_final(self) -> bool:
        """Whether the state is absorbing."""
        return self in FINAL


FINAL: Final = frozenset({Status.SUCCEEDED, Status.FAILED})


class ClientApplication(msgspec.Struct, frozen=True, kw_only=True):
    """An application that hands files to the platform (``[registration].[ClientApplication]``)."""

    client_application_id: UUID
    name: str
    is_active: bool
    created_at: datetime


class ActiveExtractor(msgspec.Struct, frozen=True, kw_only=True):
    """What the Registration API tells about an active extractor (stories 2 and 3)."""

    client_application_extractor_id: UUID
    extraction_url: str
    polling_url: str | None


class Extractor(ActiveExtractor, frozen=True, kw_only=True):
    """An extraction service registered for one client application (``ClientApplicationExtractor``)."""

    client_application_id: UUID
    name: str
    is_active: bool
    created_at: datetime

    def polling_url_of(self, job_id: UUID) -> str:
        """Return the URL that answers for one job: ``{pollingUrl or extractionUrl}/{jobId}``.

        A query string of the registered URL stays behind the job id (story 9).
        """
        base, mark, query = (self.polling_url or self.extraction_url).partition("?")
        # msgspec takes a seventh of the time that UUID's own text takes, at each poll.
        return f"{base.rstrip('/')}/{msgspec.to_builtins(job_id)}{mark}{query}"


class File(msgspec.Struct, frozen=True, kw_only=True):
    """A file that the platform holds (``[file].[File]``).

    ``blob_path`` is where its bytes (or, for files kept upstream, its signed URL) are stored;
    ``size`` in bytes and ``sha256`` in hex are unknown for files kept upstream.
    """

    file_id: UUID
    client_application_id: UUID
    file_name: str
    content_type: str
    size: int | None
    sha256: str | None
    blob_path: str
    is_remote: bool
    created_at: datetime


class Job(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """One extractor's work on one file (``[extractor].[Job]``); as JSON, which databases hand out, an array.

    ``due_at`` says when the job next needs attention and is None once it is final;
    ``claim_token`` is the fence: only the holder of the current one can write.
    ``extractor_response`` is the path of the stored result (story 5).
    """

    job_id: UUID
    file_id: UUID
    client_application_id: UUID
    client_application_extractor_id: UUID
    status: Status
    status_message: str | None
    created_at: datetime
    updated_at: datetime
    deadline_at: datetime
    due_at: datetime | None
    idempotency_key: str
    poll_attempt_count: int = 0
    last_poll_attempt_at: datetime | None = None
    error_count: int = 0
    extractor_response: str | None = None
    result_size: int | None = None
    result_sha256: str | None = None
    completed_at: datetime | None = None
    claim_token: UUID | None = None
    trace_context: str | None = None
    is_active: bool = True

    @property
    def result_path(self) -> str:
        """Return where this job's result belongs (stories 5, 10 and 12)."""
        return f"results/{self.client_application_id}/{self.file_id}/{self.job_id}/result.json"


class JobStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a job's history (``[extractor].[JobStatus]``)."""

    job_id: UUID
    status: Status
    message: str | None
    attempt_number: int
    timestamp: datetime
