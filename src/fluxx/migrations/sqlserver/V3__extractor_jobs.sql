-- Story 1: jobs and their history. Drops both tables first, so that it can be run again by hand;
-- no later script drops data. LastPollAttemptAt and CompletedAt have no default: until it happened they are empty.
IF SCHEMA_ID(N'extractor') IS NULL
    EXEC (N'CREATE SCHEMA [extractor]');
GO

IF OBJECT_ID(N'[extractor].[JobStatus]', N'U') IS NOT NULL
    DROP TABLE [extractor].[JobStatus];
GO

IF OBJECT_ID(N'[extractor].[Job]', N'U') IS NOT NULL
    DROP TABLE [extractor].[Job];
GO

CREATE TABLE [extractor].[Job] (
    [JobID] UNIQUEIDENTIFIER NOT NULL,
    [FileId] UNIQUEIDENTIFIER NOT NULL,
    [ClientApplicationExtractorID] UNIQUEIDENTIFIER NOT NULL,
    [Status] NVARCHAR(20) NOT NULL CONSTRAINT [DF_Job_Status] DEFAULT N'Queued',
    [StatusMessage] NVARCHAR(MAX) NULL,
    [ExtractorResponse] NVARCHAR(500) NULL,
    [PollAttemptCount] INT NOT NULL CONSTRAINT [DF_Job_PollAttemptCount] DEFAULT 0,
    [LastPollAttemptAt] DATETIMEOFFSET(6) NULL,
    [IsActive] BIT NOT NULL CONSTRAINT [DF_Job_IsActive] DEFAULT 1,
    [CreatedAt] DATETIMEOFFSET(6) NOT NULL CONSTRAINT [DF_Job_CreatedAt] DEFAULT SYSDATETIMEOFFSET(),
    [UpdatedAt] DATETIMEOFFSET(6) NOT NULL CONSTRAINT [DF_Job_UpdatedAt] DEFAULT SYSDATETIMEOFFSET(),
    [CompletedAt] DATETIMEOFFSET(6) NULL,
    CONSTRAINT [PK_Job] PRIMARY KEY ([JobID]),
    CONSTRAINT [FK_Job_FileId_File_FileID]
        FOREIGN KEY ([FileId]) REFERENCES [file].[File] ([FileID]),
    CONSTRAINT [FK_Job_ClientApplicationExtractorID_Registration_ClientApplicationExtractorID]
        FOREIGN KEY ([ClientApplicationExtractorID])
        REFERENCES [registration].[ClientApplicationExtractor] ([ClientApplicationExtractorID]),
    CONSTRAINT [CK_Job_Status] CHECK ([Status] IN (N'Queued', N'Started', N'Succeeded', N'Failed'))
);
GO

CREATE TABLE [extractor].[JobStatus] (
    [JobStatusID] BIGINT IDENTITY (1, 1) NOT NULL,
    [JobID] UNIQUEIDENTIFIER NOT NULL,
    [Status] NVARCHAR(20) NOT NULL,
    [Message] NVARCHAR(MAX) NULL,
    [AttemptNumber] INT NOT NULL CONSTRAINT [DF_JobStatus_AttemptNumber] DEFAULT 0,
    [Timestamp] DATETIMEOFFSET(6) NOT NULL CONSTRAINT [DF_JobStatus_Timestamp] DEFAULT SYSDATETIMEOFFSET(),
    CONSTRAINT [PK_JobStatus] PRIMARY KEY ([JobStatusID]),
    CONSTRAINT [FK_JobStatus_JobID_Job_JobID]
        FOREIGN KEY ([JobID]) REFERENCES [extractor].[Job] ([JobID]),
    CONSTRAINT [CK_JobStatus_Status] CHECK ([Status] IN (N'Queued', N'Started', N'Succeeded', N'Failed'))
);
GO

CREATE INDEX [IX_JobStatus_JobID] ON [extractor].[JobStatus] ([JobID], [JobStatusID]);
GO
