"""The events of ``TOPIC_JOB_STATUS`` (story 11) in their CloudEvents 1.0 envelope, structured JSON.

Described for consumers in ``docs/events.md``.
"""

from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from fluxx.model.transitions import JobEvent

CONTENT_TYPE: Final = "application/cloudevents+json"
SOURCE: Final = "/fluxx/extractor"
TYPE_PREFIX: Final = "fluxx.extractor."


class JobStatusData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The event's ``data``: the stories' keys, to the letter."""

    job_id: UUID = msgspec.field(name="JobID")
    timestamp: datetime = msgspec.field(name="Timestamp")
    file_id: UUID = msgspec.field(name="FileId")
    client_application_extractor_id: UUID = msgspec.field(name="ClientApplicationExtractorID")
    result_summary: str | None = msgspec.field(name="ResultSummary", default=None)
    error_message: str | None = msgspec.field(name="ErrorMessage", default=None)


class Envelope(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A CloudEvents 1.0 envelope; ``id`` is also the broker's message id, ``subject`` the JobID."""

    specversion: str
    id: UUID
    source: str
    type: str
    subject: str
    time: datetime
    datacontenttype: str
    data: JobStatusData
    traceparent: str | None = None


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Envelope)


def encode(event: JobEvent) -> bytes:
    """Return the envelope of ``event`` as UTF-8 JSON."""
    return _encoder.encode(
        Envelope(
            specversion="1.0",
            id=event.event_id,
            source=SOURCE,
            type=TYPE_PREFIX + event.type,
            subject=str(event.job_id),
            time=event.timestamp,
            datacontenttype="application/json",
            data=JobStatusData(
                job_id=event.job_id,
                timestamp=event.timestamp,
                file_id=event.file_id,
                client_application_extractor_id=event.client_application_extractor_id,
                result_summary=event.result_summary,
                error_message=event.error_message,
            ),
            traceparent=event.trace_context,
        )
    )


def decode(body: bytes) -> Envelope:
    """Return the envelope in ``body``; raise ``msgspec.DecodeError`` where it is not one of ours."""
    return _decoder.decode(body)
