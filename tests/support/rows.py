"""One row for every table, and the same rows as an older version of the tables would hold them."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Engine, Table, insert

from fluxx.adapters.sql.tables import (
    bus_message,
    client_application,
    client_application_extractor,
    file,
    job,
    job_status,
    lease,
    metadata,
    outbox,
    rollup,
    waiting_file,
)
from support.schema import existing_columns

A_MOMENT: Final = datetime(2026, 3, 29, 1, 30, 0, 123456, tzinfo=UTC)
LATER: Final = A_MOMENT + timedelta(hours=1)


def an_id(number: int) -> UUID:
    """Return the same id for the same number."""
    return UUID(int=number)


ROWS: Final[dict[Table, dict[str, Any]]] = {
    client_application: {"ClientApplicationID": an_id(1), "Name": "Wörterbuch 発注", "IsActive": True},
    client_application_extractor: {
        "ClientApplicationExtractorID": an_id(2),
        "ClientApplicationId": an_id(1),
        "Name": "text",
        "ExtractionUrl": "https://extractor.example/extract",
        "IsActive": True,
    },
    file: {
        "FileID": an_id(3),
        "ClientApplicationId": an_id(1),
        "FileName": "発注書.pdf",
        "ContentType": "application/pdf",
        "Size": 2**40,
        "Sha256": "0" * 64,
        "BlobPath": "files/3",
        "IsRemote": False,
    },
    waiting_file: {"FileID": an_id(3), "Since": A_MOMENT},
    job: {
        "JobID": an_id(4),
        "FileId": an_id(3),
        "ClientApplicationExtractorID": an_id(2),
        "Status": "Started",
        "StatusMessage": "Submitted: 201 Created, größer als 0",
        "PollAttemptCount": 7,
        "LastPollAttemptAt": LATER,
        "IsActive": True,
        "ClientApplicationId": an_id(1),
        "DueAt": LATER,
        "ClaimToken": an_id(5),
        "DeadlineAt": LATER,
        "ErrorCount": 1,
        "IdempotencyKey": "accepted",
    },
    job_status: {"JobID": an_id(4), "Status": "Queued", "Message": "Queued", "AttemptNumber": 0, "Timestamp": A_MOMENT},
    outbox: {"EventId": an_id(6), "JobID": an_id(4), "Body": '{"é": 1}'},
    lease: {"Name": "relay", "Owner": an_id(7), "ExpiresAt": LATER},
    rollup: {column.name: 3 for column in rollup.c}
    | {"Minute": A_MOMENT.replace(second=0, microsecond=0), "ClientApplicationExtractorID": an_id(2)},
    bus_message: {
        "Topic": "job-status",
        "Subscription": "fluxx-events",
        "MessageId": "m1",
        "ContentType": "application/json",
        "Body": b"\x00\xff",
        "EnqueuedAt": A_MOMENT,
        "VisibleAt": A_MOMENT,
        "DeliveryCount": 0,
    },
}


def row_of(table: Table) -> dict[str, Any]:
    """Return a whole row of ``table`` as it is today."""
    times = {name: A_MOMENT for name in ("CreatedAt", "UpdatedAt") if name in table.c}
    return times | ROWS[table]


def place(engine: Engine) -> None:
    """Insert a row into every table there is, with the columns that it has; parents first."""
    there = existing_columns(engine)
    with engine.begin() as connection:
        for table in metadata.sorted_tables:
            if row := {name: value for name, value in row_of(table).items() if name in there.get(table.key, ())}:
                connection.execute(insert(table).values(row))
