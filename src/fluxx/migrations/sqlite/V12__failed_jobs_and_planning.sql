-- The failed jobs of one client application, or of one extractor: what people look for when something is wrong.
CREATE INDEX IF NOT EXISTS "IX_Job_Failed_ClientApplicationId"
    ON "Job" ("ClientApplicationId", "CreatedAt", "JobID")
    WHERE "Status" = 'Failed';

CREATE INDEX IF NOT EXISTS "IX_Job_Failed_ClientApplicationExtractorID"
    ON "Job" ("ClientApplicationExtractorID", "CreatedAt", "JobID")
    WHERE "Status" = 'Failed';
