-- Story 1: jobs and their history. Drops both tables first, so that it can be run again by hand;
-- no later script drops data. LastPollAttemptAt and CompletedAt have no default: until it happened they are empty.
DROP TABLE IF EXISTS "JobStatus";
DROP TABLE IF EXISTS "Job";

CREATE TABLE "Job" (
    "JobID" VARCHAR(36) NOT NULL,
    "FileId" VARCHAR(36) NOT NULL,
    "ClientApplicationExtractorID" VARCHAR(36) NOT NULL,
    "Status" VARCHAR(20) NOT NULL DEFAULT 'Queued',
    "StatusMessage" TEXT,
    "ExtractorResponse" VARCHAR(500),
    "PollAttemptCount" INTEGER NOT NULL DEFAULT 0,
    "LastPollAttemptAt" VARCHAR(32),
    "IsActive" BOOLEAN NOT NULL DEFAULT 1,
    "CreatedAt" VARCHAR(32) NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000+00:00', 'now')),
    "UpdatedAt" VARCHAR(32) NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000+00:00', 'now')),
    "CompletedAt" VARCHAR(32),
    CONSTRAINT "PK_Job" PRIMARY KEY ("JobID"),
    CONSTRAINT "FK_Job_FileId_File_FileID"
        FOREIGN KEY ("FileId") REFERENCES "File" ("FileID"),
    CONSTRAINT "FK_Job_ClientApplicationExtractorID_Registration_ClientApplicationExtractorID"
        FOREIGN KEY ("ClientApplicationExtractorID")
        REFERENCES "ClientApplicationExtractor" ("ClientApplicationExtractorID"),
    CONSTRAINT "CK_Job_Status" CHECK ("Status" IN ('Queued', 'Started', 'Succeeded', 'Failed'))
);

CREATE TABLE "JobStatus" (
    "JobStatusID" INTEGER NOT NULL,
    "JobID" VARCHAR(36) NOT NULL,
    "Status" VARCHAR(20) NOT NULL,
    "Message" TEXT,
    "AttemptNumber" INTEGER NOT NULL DEFAULT 0,
    "Timestamp" VARCHAR(32) NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000+00:00', 'now')),
    CONSTRAINT "PK_JobStatus" PRIMARY KEY ("JobStatusID"),
    CONSTRAINT "FK_JobStatus_JobID_Job_JobID"
        FOREIGN KEY ("JobID") REFERENCES "Job" ("JobID"),
    CONSTRAINT "CK_JobStatus_Status" CHECK ("Status" IN ('Queued', 'Started', 'Succeeded', 'Failed'))
);

CREATE INDEX "IX_JobStatus_JobID" ON "JobStatus" ("JobID", "JobStatusID");
