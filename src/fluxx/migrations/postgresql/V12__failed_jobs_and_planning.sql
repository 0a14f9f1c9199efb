-- The failed jobs of one client application, or of one extractor: what people look for when something is wrong.
CREATE INDEX IF NOT EXISTS "IX_Job_Failed_ClientApplicationId"
    ON "extractor"."Job" ("ClientApplicationId", "CreatedAt", "JobID")
    WHERE "Status" = 'Failed';

CREATE INDEX IF NOT EXISTS "IX_Job_Failed_ClientApplicationExtractorID"
    ON "extractor"."Job" ("ClientApplicationExtractorID", "CreatedAt", "JobID")
    WHERE "Status" = 'Failed';

-- Every listing and every queue is read along an index that begins with what is asked for. How common a value was when
-- statistics were last gathered must not tempt the planner away from it: a queue is full now and empty in a minute,
-- and the newest jobs of a client application that has gone quiet lie far back. So nothing is gathered about them.
ALTER TABLE "bus"."BusMessage"
    ALTER COLUMN "Topic" SET STATISTICS 0,
    ALTER COLUMN "Subscription" SET STATISTICS 0;

ALTER TABLE "extractor"."Job"
    ALTER COLUMN "ClientApplicationId" SET STATISTICS 0,
    ALTER COLUMN "ClientApplicationExtractorID" SET STATISTICS 0;

-- Live jobs and waiting events are a few index entries among many dead ones until those are vacuumed away,
-- which must not wait for a share of a long history.
ALTER TABLE "extractor"."Job" SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 20000);
ALTER TABLE "extractor"."Outbox" SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 20000);
ALTER TABLE "bus"."BusMessage" SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 20000);
