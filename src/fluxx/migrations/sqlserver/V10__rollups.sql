-- What happened to jobs, counted per extractor and minute in the transactions that did it: nothing counts the jobs.
-- The minute 1970-01-01 00:00 stands for all minutes; Slot keeps processes out of each other's way; Times0 and so on
-- are the classes of the times to a result (model/counts.py).
IF OBJECT_ID(N'[extractor].[Rollup]', N'U') IS NULL
    CREATE TABLE [extractor].[Rollup] (
        [Minute] DATETIMEOFFSET(6) NOT NULL,
        [ClientApplicationExtractorID] UNIQUEIDENTIFIER NOT NULL,
        [Slot] INT NOT NULL,
        [Queued] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Queued] DEFAULT 0,
        [Started] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Started] DEFAULT 0,
        [Succeeded] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Succeeded] DEFAULT 0,
        [Failed] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Failed] DEFAULT 0,
        [Unstarted] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Unstarted] DEFAULT 0,
        [Polls] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Polls] DEFAULT 0,
        [Retries] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Retries] DEFAULT 0,
        [Milliseconds] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Milliseconds] DEFAULT 0,
        [Times0] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Times0] DEFAULT 0,
        [Times1] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Times1] DEFAULT 0,
        [Times2] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Times2] DEFAULT 0,
        [Times3] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Times3] DEFAULT 0,
        [Times4] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Times4] DEFAULT 0,
        [Times5] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Times5] DEFAULT 0,
        [Times6] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Times6] DEFAULT 0,
        [Times7] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Times7] DEFAULT 0,
        [Times8] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Times8] DEFAULT 0,
        [Times9] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Times9] DEFAULT 0,
        [Times10] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Times10] DEFAULT 0,
        [Times11] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Times11] DEFAULT 0,
        [Times12] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Times12] DEFAULT 0,
        [Times13] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Times13] DEFAULT 0,
        [Times14] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Times14] DEFAULT 0,
        [Times15] BIGINT NOT NULL CONSTRAINT [DF_Rollup_Times15] DEFAULT 0,
        CONSTRAINT [PK_Rollup] PRIMARY KEY ([Minute], [ClientApplicationExtractorID], [Slot])
    );
GO

-- The jobs that there are already, once.
INSERT INTO [extractor].[Rollup] (
    [Minute], [ClientApplicationExtractorID], [Slot], [Queued], [Started], [Succeeded], [Failed], [Unstarted], [Polls]
)
SELECT
    CAST('1970-01-01T00:00:00+00:00' AS DATETIMEOFFSET(6)) AS [Minute],
    [Known].[ClientApplicationExtractorID],
    -1 AS [Slot],
    COUNT_BIG(*) AS [Queued],
    SUM([Known].[HasStarted]) AS [Started],
    SUM(CASE WHEN [Known].[Status] = 'Succeeded' THEN 1 ELSE 0 END) AS [Succeeded],
    SUM(CASE WHEN [Known].[Status] = 'Failed' THEN 1 ELSE 0 END) AS [Failed],
    SUM(CASE WHEN [Known].[Status] = 'Failed' THEN 1 - [Known].[HasStarted] ELSE 0 END) AS [Unstarted],
    SUM(CAST([Known].[PollAttemptCount] AS BIGINT)) AS [Polls]
FROM (
    SELECT
        [Job].[ClientApplicationExtractorID],
        [Job].[Status],
        [Job].[PollAttemptCount],
        CASE
            WHEN [Job].[Status] = 'Queued' THEN 0
            WHEN [Job].[Status] <> 'Failed' THEN 1
            WHEN [Begun].[JobID] IS NOT NULL THEN 1
            ELSE 0
        END AS [HasStarted]
    FROM [extractor].[Job]
    LEFT JOIN (
        SELECT DISTINCT [JobStatus].[JobID]
        FROM [extractor].[JobStatus]
        WHERE [JobStatus].[Status] = 'Started'
    ) AS [Begun] ON [Job].[JobID] = [Begun].[JobID]
) AS [Known]
WHERE NOT EXISTS (SELECT 1 FROM [extractor].[Rollup])
GROUP BY [Known].[ClientApplicationExtractorID];
GO
