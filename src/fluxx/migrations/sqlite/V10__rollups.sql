-- What happened to jobs, counted per extractor and minute in the transactions that did it: nothing counts the jobs.
-- The minute 1970-01-01 00:00 stands for all minutes; Slot keeps processes out of each other's way; Times0 and so on
-- are the classes of the times to a result (model/counts.py).
CREATE TABLE IF NOT EXISTS "Rollup" (
    "Minute" VARCHAR(32) NOT NULL,
    "ClientApplicationExtractorID" VARCHAR(36) NOT NULL,
    "Slot" INTEGER NOT NULL,
    "Queued" BIGINT NOT NULL DEFAULT 0,
    "Started" BIGINT NOT NULL DEFAULT 0,
    "Succeeded" BIGINT NOT NULL DEFAULT 0,
    "Failed" BIGINT NOT NULL DEFAULT 0,
    "Unstarted" BIGINT NOT NULL DEFAULT 0,
    "Polls" BIGINT NOT NULL DEFAULT 0,
    "Retries" BIGINT NOT NULL DEFAULT 0,
    "Milliseconds" BIGINT NOT NULL DEFAULT 0,
    "Times0" BIGINT NOT NULL DEFAULT 0,
    "Times1" BIGINT NOT NULL DEFAULT 0,
    "Times2" BIGINT NOT NULL DEFAULT 0,
    "Times3" BIGINT NOT NULL DEFAULT 0,
    "Times4" BIGINT NOT NULL DEFAULT 0,
    "Times5" BIGINT NOT NULL DEFAULT 0,
    "Times6" BIGINT NOT NULL DEFAULT 0,
    "Times7" BIGINT NOT NULL DEFAULT 0,
    "Times8" BIGINT NOT NULL DEFAULT 0,
    "Times9" BIGINT NOT NULL DEFAULT 0,
    "Times10" BIGINT NOT NULL DEFAULT 0,
    "Times11" BIGINT NOT NULL DEFAULT 0,
    "Times12" BIGINT NOT NULL DEFAULT 0,
    "Times13" BIGINT NOT NULL DEFAULT 0,
    "Times14" BIGINT NOT NULL DEFAULT 0,
    "Times15" BIGINT NOT NULL DEFAULT 0,
    CONSTRAINT "PK_Rollup" PRIMARY KEY ("Minute", "ClientApplicationExtractorID", "Slot")
);

-- The jobs that there are already, once.
INSERT INTO "Rollup" (
    "Minute", "ClientApplicationExtractorID", "Slot", "Queued", "Started", "Succeeded", "Failed", "Unstarted", "Polls"
)
SELECT
    '1970-01-01T00:00:00.000000+00:00' AS "Minute",
    "Known"."ClientApplicationExtractorID",
    -1 AS "Slot",
    COUNT(*) AS "Queued",
    SUM("Known"."HasStarted") AS "Started",
    SUM(CASE WHEN "Known"."Status" = 'Succeeded' THEN 1 ELSE 0 END) AS "Succeeded",
    SUM(CASE WHEN "Known"."Status" = 'Failed' THEN 1 ELSE 0 END) AS "Failed",
    SUM(CASE WHEN "Known"."Status" = 'Failed' THEN 1 - "Known"."HasStarted" ELSE 0 END) AS "Unstarted",
    SUM("Known"."PollAttemptCount") AS "Polls"
FROM (
    SELECT
        "Job"."ClientApplicationExtractorID",
        "Job"."Status",
        "Job"."PollAttemptCount",
        CASE
            WHEN "Job"."Status" = 'Queued' THEN 0
            WHEN "Job"."Status" <> 'Failed' THEN 1
            WHEN EXISTS (
                SELECT 1 FROM "JobStatus"
                WHERE "JobStatus"."JobID" = "Job"."JobID" AND "JobStatus"."Status" = 'Started'
            ) THEN 1
            ELSE 0
        END AS "HasStarted"
    FROM "Job"
) AS "Known"
WHERE NOT EXISTS (SELECT 1 FROM "Rollup")
GROUP BY "Known"."ClientApplicationExtractorID";
