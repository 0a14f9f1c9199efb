"""The tables as the code sees them; the migrations make them, and a test compares the two.

Columns keep the stories' names. On SQLite the schemas are translated away.
"""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from fluxx.adapters.sql.types import Id, Moment

SCHEMAS: Final = ("registration", "file", "extractor", "bus")
BigId: Final = BigInteger().with_variant(Integer, "sqlite")
metadata: Final = MetaData()

client_application: Final = Table(
    "ClientApplication",
    metadata,
    Column("ClientApplicationID", Id, primary_key=True),
    Column("Name", String(200), nullable=False),
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
    Column("Name", String(200), nullable=False),
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
    Column("FileName", String(400), nullable=False),
    Column("ContentType", String(200), nullable=False),
    Column("Size", BigInteger),
    Column("Sha256", String(64)),
    Column("BlobPath", String(500), nullable=False),
    Column("IsRemote", Boolean, nullable=False),
    Column("CreatedAt", Moment, nullable=False),
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
    Column("Status", String(20), nullable=False),
    Column("StatusMessage", Text),
    Column("ExtractorResponse", String(500)),
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
    Column("IdempotencyKey", String(100), nullable=False),
    Column("ResultSize", BigInteger),
    Column("ResultSha256", String(64)),
    Column("TraceContext", String(100)),
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
    # Listings, newest first: all; of one client application; of one extractor; the failed ones.
    Index("IX_Job_CreatedAt", "CreatedAt", "JobID"),
    Index("IX_Job_ClientApplicationId_CreatedAt", "ClientApplicationId", "CreatedAt", "JobID"),
    Index("IX_Job_ClientApplicationExtractorID_CreatedAt", "ClientApplicationExtractorID", "CreatedAt", "JobID"),
    Index(
        "IX_Job_Failed",
        "CreatedAt",
        "JobID",
        sqlite_where=text("\"Status\" = 'Failed'"),
        postgresql_where=text("\"Status\" = 'Failed'"),
        mssql_where=text("\"Status\" = 'Failed'"),
    ),
    schema="extractor",
)

job_status: Final = Table(
    "JobStatus",
    metadata,
    Column("JobStatusID", BigId, primary_key=True, autoincrement=True),
    Column("JobID", Id, ForeignKey("extractor.Job.JobID", name="FK_JobStatus_JobID_Job_JobID"), nullable=False),
    Column("Status", String(20), nullable=False),
    Column("Message", Text),
    Column("AttemptNumber", Integer, nullable=False),
    Column("Timestamp", Moment, nullable=False),
    Index("IX_JobStatus_JobID", "JobID", "JobStatusID"),
    schema="extractor",
)

outbox: Final = Table(
    "Outbox",
    metadata,
    Column("OutboxID", BigId, primary_key=True, autoincrement=True),
    Column("EventId", Id, nullable=False),
    Column("JobID", Id, nullable=False),
    Column("Body", Text, nullable=False),
    Column("TraceContext", String(100)),
    Column("CreatedAt", Moment, nullable=False),
    Column("PublishedAt", Moment),
    UniqueConstraint("EventId", name="UQ_Outbox_EventId"),
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
    Column("Name", String(100), primary_key=True),
    Column("Owner", Id, nullable=False),
    Column("ExpiresAt", Moment, nullable=False),
    schema="extractor",
)

bus_message: Final = Table(
    "BusMessage",
    metadata,
    Column("BusMessageID", BigId, primary_key=True, autoincrement=True),
    Column("Topic", String(100), nullable=False),
    Column("Subscription", String(100), nullable=False),
    Column("MessageId", String(100), nullable=False),
    Column("OrderKey", String(100)),
    Column("ContentType", String(100), nullable=False),
    Column("Body", LargeBinary, nullable=False),
    Column("TraceContext", String(100)),
    Column("EnqueuedAt", Moment, nullable=False),
    Column("VisibleAt", Moment, nullable=False),
    Column("LockToken", Id),
    Column("DeliveryCount", Integer, nullable=False),
    Column("DeadLetterReason", String(100)),
    Column("DeadLetterDescription", Text),
    UniqueConstraint("Topic", "Subscription", "MessageId", name="UQ_BusMessage_Topic_Subscription_MessageId"),
    # Browsing (and receiving, which looks at the oldest first) walks one subscription in order.
    Index("IX_BusMessage_Topic_Subscription", "Topic", "Subscription", "BusMessageID"),
    schema="bus",
)
