-- What a job waits for (due time, claim, deadline, errors), what makes it unique, and facts about its result.
-- Jobs that are here already fall due now, get an hour, and stay unique by their own id.
ALTER TABLE "extractor"."Job"
    ADD COLUMN IF NOT EXISTS "ClientApplicationId" UUID,
    ADD COLUMN IF NOT EXISTS "DueAt" TIMESTAMPTZ,
    ADD COLUMN IF NOT EXISTS "ClaimToken" UUID,
    ADD COLUMN IF NOT EXISTS "DeadlineAt" TIMESTAMPTZ,
    ADD COLUMN IF NOT EXISTS "ErrorCount" INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS "IdempotencyKey" VARCHAR(100),
    ADD COLUMN IF NOT EXISTS "ResultSize" BIGINT,
    ADD COLUMN IF NOT EXISTS "ResultSha256" VARCHAR(64),
    ADD COLUMN IF NOT EXISTS "TraceContext" VARCHAR(100);

UPDATE "extractor"."Job"
SET
    "ClientApplicationId" = (
        SELECT "e"."ClientApplicationId"
        FROM "registration"."ClientApplicationExtractor" AS "e"
        WHERE "e"."ClientApplicationExtractorID" = "Job"."ClientApplicationExtractorID"
    ),
    "DeadlineAt" = now() + INTERVAL '1 hour',
    "IdempotencyKey" = 'job:' || "JobID"
WHERE "IdempotencyKey" IS NULL;

UPDATE "extractor"."Job" SET "DueAt" = now()
WHERE "Status" IN ('Queued', 'Started') AND "DueAt" IS NULL;

UPDATE "extractor"."Job" SET "CompletedAt" = "UpdatedAt"
WHERE "Status" IN ('Succeeded', 'Failed') AND "CompletedAt" IS NULL;

-- A job is final, completed, and never due again; or none of the three.
ALTER TABLE "extractor"."Job"
    ALTER COLUMN "ClientApplicationId" SET NOT NULL,
    ALTER COLUMN "DeadlineAt" SET NOT NULL,
    ALTER COLUMN "IdempotencyKey" SET NOT NULL,
    DROP CONSTRAINT IF EXISTS "CK_Job_DueAt",
    DROP CONSTRAINT IF EXISTS "CK_Job_CompletedAt",
    ADD CONSTRAINT "CK_Job_DueAt" CHECK (
        ("Status" IN ('Queued', 'Started') AND "DueAt" IS NOT NULL)
        OR ("Status" IN ('Succeeded', 'Failed') AND "DueAt" IS NULL)
    ),
    ADD CONSTRAINT "CK_Job_CompletedAt" CHECK (
        ("Status" IN ('Queued', 'Started') AND "CompletedAt" IS NULL)
        OR ("Status" IN ('Succeeded', 'Failed') AND "CompletedAt" IS NOT NULL)
    );
