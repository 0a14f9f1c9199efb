-- Topics and subscriptions where no broker is configured: one row per message and subscription.
IF SCHEMA_ID(N'bus') IS NULL
    EXEC (N'CREATE SCHEMA [bus]');
GO

IF OBJECT_ID(N'[bus].[BusMessage]', N'U') IS NULL
    CREATE TABLE [bus].[BusMessage] (
        [BusMessageID] BIGINT IDENTITY (1, 1) NOT NULL,
        [Topic] NVARCHAR(100) NOT NULL,
        [Subscription] NVARCHAR(100) NOT NULL,
        [MessageId] NVARCHAR(100) NOT NULL,
        [OrderKey] NVARCHAR(100) NULL,
        [ContentType] NVARCHAR(100) NOT NULL,
        [Body] VARBINARY(MAX) NOT NULL,
        [TraceContext] VARCHAR(100) NULL,
        [EnqueuedAt] DATETIMEOFFSET(6) NOT NULL
            CONSTRAINT [DF_BusMessage_EnqueuedAt] DEFAULT SYSDATETIMEOFFSET(),
        [VisibleAt] DATETIMEOFFSET(6) NOT NULL
            CONSTRAINT [DF_BusMessage_VisibleAt] DEFAULT SYSDATETIMEOFFSET(),
        [LockToken] UNIQUEIDENTIFIER NULL,
        [DeliveryCount] INT NOT NULL CONSTRAINT [DF_BusMessage_DeliveryCount] DEFAULT 0,
        [DeadLetterReason] NVARCHAR(100) NULL,
        [DeadLetterDescription] NVARCHAR(MAX) NULL,
        CONSTRAINT [PK_BusMessage] PRIMARY KEY ([BusMessageID]),
        CONSTRAINT [UQ_BusMessage_Topic_Subscription_MessageId] UNIQUE ([Topic], [Subscription], [MessageId])
    );
GO

DROP INDEX IF EXISTS [IX_BusMessage_Topic_Subscription] ON [bus].[BusMessage];
CREATE INDEX [IX_BusMessage_Topic_Subscription]
    ON [bus].[BusMessage] ([Topic], [Subscription], [BusMessageID]);
GO
