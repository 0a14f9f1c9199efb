-- What a job waits for (due time, claim, deadline, errors), what makes it unique, and facts about its result.
-- Jobs that are here already fall due now, get an hour, and stay unique by their own id.
IF COL_LENGTH(N'extractor.Job', N'ClientApplicationId') IS NULL
    ALTER TABLE [extractor].[Job] ADD [ClientApplicationId] UNIQUEIDENTIFIER NOT NULL
        CONSTRAINT [DF_Job_ClientApplicationId] DEFAULT '00000000-0000-0000-0000-000000000000';
IF COL_LENGTH(N'extractor.Job', N'DueAt') IS NULL
    ALTER TABLE [extractor].[Job] ADD [DueAt] DATETIMEOFFSET(6) NULL;
IF COL_LENGTH(N'extractor.Job', N'ClaimToken') IS NULL
    ALTER TABLE [extractor].[Job] ADD [ClaimToken] UNIQUEIDENTIFIER NULL;
IF COL_LENGTH(N'extractor.Job', N'DeadlineAt') IS NULL
    ALTER TABLE [extractor].[Job] ADD [DeadlineAt] DATETIMEOFFSET(6) NOT NULL
        CONSTRAINT [DF_Job_DeadlineAt] DEFAULT DATEADD(HOUR, 1, SYSDATETIMEOFFSET());
IF COL_LENGTH(N'extractor.Job', N'ErrorCount') IS NULL
    ALTER TABLE [extractor].[Job] ADD [ErrorCount] INT NOT NULL CONSTRAINT [DF_Job_ErrorCount] DEFAULT 0;
IF COL_LENGTH(N'extractor.Job', N'IdempotencyKey') IS NULL
    ALTER TABLE [extractor].[Job] ADD [IdempotencyKey] NVARCHAR(100) NOT NULL
        CONSTRAINT [DF_Job_IdempotencyKey] DEFAULT N'';
IF COL_LENGTH(N'extractor.Job', N'ResultSize') IS NULL
    ALTER TABLE [extractor].[Job] ADD [ResultSize] BIGINT NULL;
IF COL_LENGTH(N'extractor.Job', N'ResultSha256') IS NULL
    ALTER TABLE [extractor].[Job] ADD [ResultSha256] VARCHAR(64) NULL;
IF COL_LENGTH(N'extractor.Job', N'TraceContext') IS NULL
    ALTER TABLE [extractor].[Job] ADD [TraceContext] VARCHAR(100) NULL;
GO

UPDATE [extractor].[Job]
SET
    [ClientApplicationId] = (
        SELECT [e].[ClientApplicationId]
        FROM [registration].[ClientApplicationExtractor] AS [e]
        WHERE [e].[ClientApplicationExtractorID] = [Job].[ClientApplicationExtractorID]
    ),
    [IdempotencyKey] = CONCAT(N'job:', LOWER(CONVERT(NVARCHAR(36), [JobID])))
WHERE [IdempotencyKey] = N'';
UPDATE [extractor].[Job] SET [DueAt] = SYSDATETIMEOFFSET()
WHERE [Status] IN (N'Queued', N'Started') AND [DueAt] IS NULL;
UPDATE [extractor].[Job] SET [CompletedAt] = [UpdatedAt]
WHERE [Status] IN (N'Succeeded', N'Failed') AND [CompletedAt] IS NULL;
GO

-- These defaults were there to fill the rows; a new job says what it is.
IF OBJECT_ID(N'[extractor].[DF_Job_ClientApplicationId]', N'D') IS NOT NULL
    ALTER TABLE [extractor].[Job] DROP CONSTRAINT [DF_Job_ClientApplicationId];
IF OBJECT_ID(N'[extractor].[DF_Job_DeadlineAt]', N'D') IS NOT NULL
    ALTER TABLE [extractor].[Job] DROP CONSTRAINT [DF_Job_DeadlineAt];
IF OBJECT_ID(N'[extractor].[DF_Job_IdempotencyKey]', N'D') IS NOT NULL
    ALTER TABLE [extractor].[Job] DROP CONSTRAINT [DF_Job_IdempotencyKey];
GO

-- A job is final, completed, and never due again; or none of the three.
IF OBJECT_ID(N'[extractor].[CK_Job_DueAt]', N'C') IS NULL
    ALTER TABLE [extractor].[Job] ADD CONSTRAINT [CK_Job_DueAt] CHECK (
        ([Status] IN (N'Queued', N'Started') AND [DueAt] IS NOT NULL)
        OR ([Status] IN (N'Succeeded', N'Failed') AND [DueAt] IS NULL)
    );
IF OBJECT_ID(N'[extractor].[CK_Job_CompletedAt]', N'C') IS NULL
    ALTER TABLE [extractor].[Job] ADD CONSTRAINT [CK_Job_CompletedAt] CHECK (
        ([Status] IN (N'Queued', N'Started') AND [CompletedAt] IS NULL)
        OR ([Status] IN (N'Succeeded', N'Failed') AND [CompletedAt] IS NOT NULL)
    );
GO
