-- What the claims, the idempotent acceptance and the listings stand on.
CREATE UNIQUE INDEX IF NOT EXISTS "UQ_Job_FileId_ClientApplicationExtractorID_IdempotencyKey"
    ON "Job" ("FileId", "ClientApplicationExtractorID", "IdempotencyKey");

-- Holds live jobs only, so that claims cost the same however long the history is.
CREATE INDEX IF NOT EXISTS "IX_Job_DueAt" ON "Job" ("DueAt", "ClientApplicationExtractorID")
    WHERE "DueAt" IS NOT NULL;

CREATE INDEX IF NOT EXISTS "IX_Job_CreatedAt" ON "Job" ("CreatedAt", "JobID");

CREATE INDEX IF NOT EXISTS "IX_Job_ClientApplicationId_CreatedAt"
    ON "Job" ("ClientApplicationId", "CreatedAt", "JobID");

CREATE INDEX IF NOT EXISTS "IX_Job_ClientApplicationExtractorID_CreatedAt"
    ON "Job" ("ClientApplicationExtractorID", "CreatedAt", "JobID");

CREATE INDEX IF NOT EXISTS "IX_Job_Failed" ON "Job" ("CreatedAt", "JobID")
    WHERE "Status" = 'Failed';
