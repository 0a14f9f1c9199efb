-- What a job waits for (due time, claim, deadline, errors), what makes it unique, and facts about its result.
-- Jobs that are here already fall due now, get an hour, and stay unique by their own id.
ALTER TABLE "Job" ADD COLUMN "ClientApplicationId" VARCHAR(36);
ALTER TABLE "Job" ADD COLUMN "DueAt" VARCHAR(32);
ALTER TABLE "Job" ADD COLUMN "ClaimToken" VARCHAR(36);
ALTER TABLE "Job" ADD COLUMN "DeadlineAt" VARCHAR(32);
ALTER TABLE "Job" ADD COLUMN "ErrorCount" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "Job" ADD COLUMN "IdempotencyKey" VARCHAR(100);
ALTER TABLE "Job" ADD COLUMN "ResultSize" BIGINT;
ALTER TABLE "Job" ADD COLUMN "ResultSha256" VARCHAR(64);
ALTER TABLE "Job" ADD COLUMN "TraceContext" VARCHAR(100);

UPDATE "Job"
SET
    "ClientApplicationId" = (
        SELECT "e"."ClientApplicationId"
        FROM "ClientApplicationExtractor" AS "e"
        WHERE "e"."ClientApplicationExtractorID" = "Job"."ClientApplicationExtractorID"
    ),
    "DeadlineAt" = strftime('%Y-%m-%dT%H:%M:%f000+00:00', 'now', '+1 hour'),
    "IdempotencyKey" = 'job:' || "JobID"
WHERE "IdempotencyKey" IS NULL;

UPDATE "Job" SET "DueAt" = strftime('%Y-%m-%dT%H:%M:%f000+00:00', 'now')
WHERE "Status" IN ('Queued', 'Started') AND "DueAt" IS NULL;

UPDATE "Job" SET "CompletedAt" = "UpdatedAt"
WHERE "Status" IN ('Succeeded', 'Failed') AND "CompletedAt" IS NULL;

-- SQLite adds constraints to a new table only: one is made, filled with every row, and takes the old one's name.
-- A job is final, completed, and never due again; or none of the three.
CREATE TABLE "NewJob" (
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
    "ClientApplicationId" VARCHAR(36) NOT NULL,
    "DueAt" VARCHAR(32),
    "ClaimToken" VARCHAR(36),
    "DeadlineAt" VARCHAR(32) NOT NULL,
    "ErrorCount" INTEGER NOT NULL DEFAULT 0,
    "IdempotencyKey" VARCHAR(100) NOT NULL,
    "ResultSize" BIGINT,
    "ResultSha256" VARCHAR(64),
    "TraceContext" VARCHAR(100),
    CONSTRAINT "PK_Job" PRIMARY KEY ("JobID"),
    CONSTRAINT "FK_Job_FileId_File_FileID"
        FOREIGN KEY ("FileId") REFERENCES "File" ("FileID"),
    CONSTRAINT "FK_Job_ClientApplicationExtractorID_Registration_ClientApplicationExtractorID"
        FOREIGN KEY ("ClientApplicationExtractorID")
        REFERENCES "ClientApplicationExtractor" ("ClientApplicationExtractorID"),
    CONSTRAINT "CK_Job_Status" CHECK ("Status" IN ('Queued', 'Started', 'Succeeded', 'Failed')),
    CONSTRAINT "CK_Job_DueAt" CHECK (
        ("Status" IN ('Queued', 'Started') AND "DueAt" IS NOT NULL)
        OR ("Status" IN ('Succeeded', 'Failed') AND "DueAt" IS NULL)
    ),
    CONSTRAINT "CK_Job_CompletedAt" CHECK (
        ("Status" IN ('Queued', 'Started') AND "CompletedAt" IS NULL)
        OR ("Status" IN ('Succeeded', 'Failed') AND "CompletedAt" IS NOT NULL)
    )
);

-- The columns stand in the same order in both.
INSERT INTO "NewJob" SELECT * FROM "Job";
DROP TABLE "Job";
ALTER TABLE "NewJob" RENAME TO "Job";
