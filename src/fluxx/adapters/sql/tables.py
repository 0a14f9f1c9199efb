"""The tables as the code sees them; the migrations make them, and a test compares the two.

Columns keep the stories' names. On SQLite all stand in its only schema. ``Unicode`` is what SQL
Server calls NVARCHAR: for words of people, and for what is compared (the driver sends NVARCHAR, and
an index on a VARCHAR column would be read from end to end). Defaults are the migrations' own: the
code always says what it writes.
"""

from collections.abc import Iterable
from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Unicode,
    UnicodeText,
    UniqueConstraint,
    text,
)

from fluxx.adapters.sql.types import Id, Moment
from fluxx.model.counts import NO_TIMES
from fluxx.model.job import FINAL, Status

SCHEMAS: Final = ("registration", "file", "extractor", "bus")
BigId: Final = BigInteger().with_variant(Integer, "sqlite")
metadata: Final = MetaData()


def _status_in(statuses: Iterable[Status]) -> str:
    return f'"Status" IN ({", ".join(f"{status.value!r}" for status in Status if status in statuses)})'


def _failed(name: str, *columns: str) -> Index:
    """Return an index that holds failed jobs only."""
    condition = text(f'"Status" = {Status.FAILED.value!r}')
    return Index(name, *columns, sqlite_where=condition, postgresql_where=condition, mssql_where=condition)


LIVE: Final = frozenset(Status) - FINAL
ANY_STATUS: Final = _status_in(Status)
DUE_WHILE_LIVE: Final = f"""({_status_in(LIVE)} AND "DueAt" IS NOT NULL) OR ({_status_in(FINAL)} AND "DueAt" IS NULL)"""
COMPLETED_ONCE_FINAL: Final = (
    f"""({_status_in(LIVE)} AND "CompletedAt" IS NULL) OR ({_status_in(FINAL)} AND "CompletedAt" IS NOT NULL)"""
)

client_application: Final = Table(
    "ClientApplication",
    metadata,
    Column("ClientApplicationID", Id, primary_key=True),
    Column("Name", Unicode(200), nullable=False),
    Column("IsActive", Boolean, nullable=False),
    Column("CreatedAt", Moment, nullable=False),
    Column("UpdatedAt", Moment, nullable=False),
    schema="registration",
)

client_application_extractor: Final = Table(
    "ClientApplicationExtractor",
    metadata,
    Column("ClientApplicationExtractorID", Id, primary_key=True),
    Column(
        "ClientApplicationId",
        Id,
        ForeignKey(
            "registration.ClientApplication.ClientApplicationID",
            name="FK_ClientApplicationExtractor_ClientApplicationId_ClientApplication_ClientApplicationID",
        ),
        nullable=False,
    ),
    Column("Name", Unicode(200), nullable=False),
    Column("ExtractionUrl", String(500), nullable=False),
    Column("PollingUrl", String(500)),
    Column("IsActive", Boolean, nullable=False),
    Column("CreatedAt", Moment, nullable=False),
    Column("UpdatedAt", Moment, nullable=False),
    Index("IX_ClientApplicationExtractor_ClientApplicationId", "ClientApplicationId", "CreatedAt"),
    schema="registration",
)

file: Final = Table(
    "File",
    metadata,
    Column("FileID", Id, primary_key=True),
    Column(
        "ClientApplicationId",
        Id,
        ForeignKey(
            "registration.ClientApplication.ClientApplicationID",
            name="FK_File_ClientApplicationId_ClientApplication_ClientApplicationID",
        ),
        nullable=False,
    ),
    Column("FileName", Unicode(400), nullable=False),
    Column("ContentType", Unicode(200), nullable=False),
    Column("Size", BigInteger),
    Column("Sha256", String(64)),
    Column("BlobPath", Unicode(500), nullable=False),
    Column("IsRemote", Boolean, nullable=False),
    Column("CreatedAt", Moment, nullable=False),
    # Retention: the oldest first.
    Index("IX_File_CreatedAt", "CreatedAt"),
    # What became of a file that somebody knows by its name.
    Index("IX_File_FileName_CreatedAt", "FileName", "CreatedAt"),
    schema="file",
)

# Uploaded files whose message no worker has dealt with. A table of its own, so that it stays small however many files
# there are, and so that nobody needs the right to change files.
waiting_file: Final = Table(
    "WaitingFile",
    metadata,
    Column("FileID", Id, primary_key=True),
    Column("Since", Moment, nullable=False),
    Index("IX_WaitingFile_Since", "Since"),
    schema="file",
)

job: Final = Table(
    "Job",
    metadata,
    Column("JobID", Id, primary_key=True),
    Column("FileId", Id, ForeignKey("file.File.FileID", name="FK_Job_FileId_File_FileID"), nullable=False),
    Column(
        "ClientApplicationExtractorID",
        Id,
        ForeignKey(
            "registration.ClientApplicationExtractor.ClientApplicationExtractorID",
            name="FK_Job_ClientApplicationExtractorID_Registration_ClientApplicationExtractorID",
        ),
        nullable=False,
    ),
    Column("Status", Unicode(20), nullable=False),
    Column("StatusMessage", UnicodeText),
    Column("ExtractorResponse", Unicode(500)),
    Column("PollAttemptCount", Integer, nullable=False),
    Column("LastPollAttemptAt", Moment),
    Column("IsActive", Boolean, nullable=False),
    Column("CreatedAt", Moment, nullable=False),
    Column("UpdatedAt", Moment, nullable=False),
    Column("CompletedAt", Moment),
    Column("ClientApplicationId", Id, nullable=False),
    Column("DueAt", Moment),
    Column("ClaimToken", Id),
    Column("DeadlineAt", Moment, nullable=False),
    Column("ErrorCount", Integer, nullable=False),
    Column("IdempotencyKey", Unicode(100), nullable=False),
    Column("ResultSize", BigInteger),
    Column("ResultSha256", String(64)),
    Column("TraceContext", String(100)),
    CheckConstraint(ANY_STATUS, name="CK_Job_Status"),
    CheckConstraint(DUE_WHILE_LIVE, name="CK_Job_DueAt"),
    CheckConstraint(COMPLETED_ONCE_FINAL, name="CK_Job_CompletedAt"),
    Index(
        "UQ_Job_FileId_ClientApplicationExtractorID_IdempotencyKey",
        "FileId",
        "ClientApplicationExtractorID",
        "IdempotencyKey",
        unique=True,
    ),
    # Claims: holds live jobs only, so it stays small however long the history grows.
    Index(
        "IX_Job_DueAt",
        "DueAt",
        "ClientApplicationExtractorID",
        sqlite_where=text('"DueAt" IS NOT NULL'),
        postgresql_where=text('"DueAt" IS NOT NULL'),
        mssql_where=text('"DueAt" IS NOT NULL'),
    ),
    # Listings, newest first: all; of one client application; of one extractor; the failed ones of each.
    Index("IX_Job_CreatedAt", "CreatedAt", "JobID"),
    Index("IX_Job_ClientApplicationId_CreatedAt", "ClientApplicationId", "CreatedAt", "JobID"),
    Index("IX_Job_ClientApplicationExtractorID_CreatedAt", "ClientApplicationExtractorID", "CreatedAt", "JobID"),
    _failed("IX_Job_Failed", "CreatedAt", "JobID"),
    _failed("IX_Job_Failed_ClientApplicationId", "ClientApplicationId", "CreatedAt", "JobID"),
    _failed("IX_Job_Failed_ClientApplicationExtractorID", "ClientApplicationExtractorID", "CreatedAt", "JobID"),
    schema="extractor",
)

job_status: Final = Table(
    "JobStatus",
    metadata,
    Column("JobStatusID", BigId, primary_key=True, autoincrement=True),
    Column("JobID", Id, ForeignKey("extractor.Job.JobID", name="FK_JobStatus_JobID_Job_JobID"), nullable=False),
    Column("Status", Unicode(20), nullable=False),
    Column("Message", UnicodeText),
    Column("AttemptNumber", Integer, nullable=False),
    Column("Timestamp", Moment, nullable=False),
    CheckConstraint(ANY_STATUS, name="CK_JobStatus_Status"),
    Index("IX_JobStatus_JobID", "JobID", "JobStatusID"),
    schema="extractor",
)

outbox: Final = Table(
    "Outbox",
    metadata,
    Column("OutboxID", BigId, primary_key=True, autoincrement=True),
    Column("EventId", Id, nullable=False),
    Column("JobID", Id, nullable=False),
    Column("Body", UnicodeText, nullable=False),
    Column("TraceContext", String(100)),
    Column("CreatedAt", Moment, nullable=False),
    Column("PublishedAt", Moment),
    UniqueConstraint("EventId", name="UQ_Outbox_EventId"),
    # The events of a job: shown to operators, forgotten with it.
    Index("IX_Outbox_JobID", "JobID"),
    Index(
        "IX_Outbox_Unpublished",
        "OutboxID",
        sqlite_where=text('"PublishedAt" IS NULL'),
        postgresql_where=text('"PublishedAt" IS NULL'),
        mssql_where=text('"PublishedAt" IS NULL'),
    ),
    schema="extractor",
)

lease: Final = Table(
    "Lease",
    metadata,
    Column("Name", Unicode(100), primary_key=True),
    Column("Owner", Id, nullable=False),
    Column("ExpiresAt", Moment, nullable=False),
    schema="extractor",
)

rollup: Final = Table(
    "Rollup",
    metadata,
    # Listed by minute, all extractors together: the primary key's first column.
    Column("Minute", Moment, primary_key=True),
    Column("ClientApplicationExtractorID", Id, primary_key=True),
    Column("Slot", Integer, primary_key=True, autoincrement=False),
    *(
        Column(name, BigInteger, nullable=False)
        for name in ("Queued", "Started", "Succeeded", "Failed", "Unstarted", "Polls", "Retries", "Milliseconds")
    ),
    *(Column(f"Times{place}", BigInteger, nullable=False) for place in range(len(NO_TIMES))),
    schema="extractor",
)

bus_message: Final = Table(
    "BusMessage",
    metadata,
    Column("BusMessageID", BigId, primary_key=True, autoincrement=True),
    Column("Topic", Unicode(100), nullable=False),
    Column("Subscription", Unicode(100), nullable=False),
    Column("MessageId", Unicode(100), nullable=False),
    Column("OrderKey", Unicode(100)),
    Column("ContentType", Unicode(100), nullable=False),
    Column("Body", LargeBinary, nullable=False),
    Column("TraceContext", String(100)),
    Column("EnqueuedAt", Moment, nullable=False),
    Column("VisibleAt", Moment, nullable=False),
    Column("LockToken", Id),
    Column("DeliveryCount", Integer, nullable=False),
    Column("DeadLetterReason", Unicode(100)),
    Column("DeadLetterDescription", UnicodeText),
    UniqueConstraint("Topic", "Subscription", "MessageId", name="UQ_BusMessage_Topic_Subscription_MessageId"),
    # Browsing (and receiving, which looks at the oldest first) walks one subscription in order.
    Index("IX_BusMessage_Topic_Subscription", "Topic", "Subscription", "BusMessageID"),
    schema="bus",
    sqlite_autoincrement=True,  # or the number of a deleted message would come again, and who browses miss one
)
