-- The failed jobs of one client application, or of one extractor: what people look for when something is wrong.
DROP INDEX IF EXISTS [IX_Job_Failed_ClientApplicationId] ON [extractor].[Job];
CREATE INDEX [IX_Job_Failed_ClientApplicationId]
    ON [extractor].[Job] ([ClientApplicationId], [CreatedAt], [JobID])
    WHERE [Status] = N'Failed';
GO

DROP INDEX IF EXISTS [IX_Job_Failed_ClientApplicationExtractorID] ON [extractor].[Job];
CREATE INDEX [IX_Job_Failed_ClientApplicationExtractorID]
    ON [extractor].[Job] ([ClientApplicationExtractorID], [CreatedAt], [JobID])
    WHERE [Status] = N'Failed';
GO
