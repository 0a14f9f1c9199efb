-- Events that wait to be published, written beside the transitions; and who may publish them now.
IF OBJECT_ID(N'[extractor].[Outbox]', N'U') IS NULL
    CREATE TABLE [extractor].[Outbox] (
        [OutboxID] BIGINT IDENTITY (1, 1) NOT NULL,
        [EventId] UNIQUEIDENTIFIER NOT NULL,
        [JobID] UNIQUEIDENTIFIER NOT NULL,
        [Body] NVARCHAR(MAX) NOT NULL,
        [TraceContext] VARCHAR(100) NULL,
        [CreatedAt] DATETIMEOFFSET(6) NOT NULL CONSTRAINT [DF_Outbox_CreatedAt] DEFAULT SYSDATETIMEOFFSET(),
        [PublishedAt] DATETIMEOFFSET(6) NULL,
        CONSTRAINT [PK_Outbox] PRIMARY KEY ([OutboxID]),
        CONSTRAINT [UQ_Outbox_EventId] UNIQUE ([EventId])
    );
GO

DROP INDEX IF EXISTS [IX_Outbox_Unpublished] ON [extractor].[Outbox];
CREATE INDEX [IX_Outbox_Unpublished] ON [extractor].[Outbox] ([OutboxID])
    WHERE [PublishedAt] IS NULL;
GO

IF OBJECT_ID(N'[extractor].[Lease]', N'U') IS NULL
    CREATE TABLE [extractor].[Lease] (
        [Name] NVARCHAR(100) NOT NULL,
        [Owner] UNIQUEIDENTIFIER NOT NULL,
        [ExpiresAt] DATETIMEOFFSET(6) NOT NULL,
        CONSTRAINT [PK_Lease] PRIMARY KEY ([Name])
    );
GO
