-- What the claims, the idempotent acceptance and the listings stand on.
CREATE UNIQUE INDEX IF NOT EXISTS "UQ_Job_FileId_ClientApplicationExtractorID_IdempotencyKey"
    ON "extractor"."Job" ("FileId", "ClientApplicationExtractorID", "IdempotencyKey");

-- Holds live jobs only, so that claims cost the same however long the history is.
CREATE INDEX IF NOT EXISTS "IX_Job_DueAt" ON "extractor"."Job" ("DueAt", "ClientApplicationExtractorID")
    WHERE "DueAt" IS NOT NULL;

CREATE INDEX IF NOT EXISTS "IX_Job_CreatedAt" ON "extractor"."Job" ("CreatedAt", "JobID");

CREATE INDEX IF NOT EXISTS "IX_Job_ClientApplicationId_CreatedAt"
    ON "extractor"."Job" ("ClientApplicationId", "CreatedAt", "JobID");

CREATE INDEX IF NOT EXISTS "IX_Job_ClientApplicationExtractorID_CreatedAt"
    ON "extractor"."Job" ("ClientApplicationExtractorID", "CreatedAt", "JobID");

CREATE INDEX IF NOT EXISTS "IX_Job_Failed" ON "extractor"."Job" ("CreatedAt", "JobID")
    WHERE "Status" = 'Failed';
