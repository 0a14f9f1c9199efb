-- What the claims, the idempotent acceptance and the listings stand on.
DROP INDEX IF EXISTS [UQ_Job_FileId_ClientApplicationExtractorID_IdempotencyKey] ON [extractor].[Job];
CREATE UNIQUE INDEX [UQ_Job_FileId_ClientApplicationExtractorID_IdempotencyKey]
    ON [extractor].[Job] ([FileId], [ClientApplicationExtractorID], [IdempotencyKey]);
GO

-- Holds live jobs only, so that claims cost the same however long the history is.
DROP INDEX IF EXISTS [IX_Job_DueAt] ON [extractor].[Job];
CREATE INDEX [IX_Job_DueAt] ON [extractor].[Job] ([DueAt], [ClientApplicationExtractorID])
    WHERE [DueAt] IS NOT NULL;
GO

DROP INDEX IF EXISTS [IX_Job_CreatedAt] ON [extractor].[Job];
CREATE INDEX [IX_Job_CreatedAt] ON [extractor].[Job] ([CreatedAt], [JobID]);
GO

DROP INDEX IF EXISTS [IX_Job_ClientApplicationId_CreatedAt] ON [extractor].[Job];
CREATE INDEX [IX_Job_ClientApplicationId_CreatedAt]
    ON [extractor].[Job] ([ClientApplicationId], [CreatedAt], [JobID]);
GO

DROP INDEX IF EXISTS [IX_Job_ClientApplicationExtractorID_CreatedAt] ON [extractor].[Job];
CREATE INDEX [IX_Job_ClientApplicationExtractorID_CreatedAt]
    ON [extractor].[Job] ([ClientApplicationExtractorID], [CreatedAt], [JobID]);
GO

DROP INDEX IF EXISTS [IX_Job_Failed] ON [extractor].[Job];
CREATE INDEX [IX_Job_Failed] ON [extractor].[Job] ([CreatedAt], [JobID])
    WHERE [Status] = N'Failed';
GO
