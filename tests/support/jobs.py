"""A job as a value, for tests of what needs no database."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from fluxx.model.job import Job, Status


def a_job(now: datetime, **changes: Any) -> Job:
    """A queued job of nobody's, made and due ``now``, with an hour to live."""
    made: dict[str, Any] = {
        "job_id": uuid4(),
        "file_id": uuid4(),
        "client_application_id": uuid4(),
        "client_application_extractor_id": uuid4(),
        "status": Status.QUEUED,
        "status_message": None,
        "created_at": now,
        "updated_at": now,
        "deadline_at": now + timedelta(hours=1),
        "due_at": now,
        "idempotency_key": "k",
    }
    return Job(**made | changes)
