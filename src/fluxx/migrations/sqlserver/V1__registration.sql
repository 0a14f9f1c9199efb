-- Client applications and the extractors registered for them.
IF SCHEMA_ID(N'registration') IS NULL
    EXEC (N'CREATE SCHEMA [registration]');
GO

IF OBJECT_ID(N'[registration].[ClientApplication]', N'U') IS NULL
    CREATE TABLE [registration].[ClientApplication] (
        [ClientApplicationID] UNIQUEIDENTIFIER NOT NULL,
        [Name] NVARCHAR(200) NOT NULL,
        [IsActive] BIT NOT NULL CONSTRAINT [DF_ClientApplication_IsActive] DEFAULT 1,
        [CreatedAt] DATETIMEOFFSET(6) NOT NULL
            CONSTRAINT [DF_ClientApplication_CreatedAt] DEFAULT SYSDATETIMEOFFSET(),
        [UpdatedAt] DATETIMEOFFSET(6) NOT NULL
            CONSTRAINT [DF_ClientApplication_UpdatedAt] DEFAULT SYSDATETIMEOFFSET(),
        CONSTRAINT [PK_ClientApplication] PRIMARY KEY ([ClientApplicationID])
    );
GO

IF OBJECT_ID(N'[registration].[ClientApplicationExtractor]', N'U') IS NULL
    CREATE TABLE [registration].[ClientApplicationExtractor] (
        [ClientApplicationExtractorID] UNIQUEIDENTIFIER NOT NULL,
        [ClientApplicationId] UNIQUEIDENTIFIER NOT NULL,
        [Name] NVARCHAR(200) NOT NULL,
        [ExtractionUrl] VARCHAR(500) NOT NULL,
        [IsActive] BIT NOT NULL CONSTRAINT [DF_ClientApplicationExtractor_IsActive] DEFAULT 1,
        [CreatedAt] DATETIMEOFFSET(6) NOT NULL
            CONSTRAINT [DF_ClientApplicationExtractor_CreatedAt] DEFAULT SYSDATETIMEOFFSET(),
        [UpdatedAt] DATETIMEOFFSET(6) NOT NULL
            CONSTRAINT [DF_ClientApplicationExtractor_UpdatedAt] DEFAULT SYSDATETIMEOFFSET(),
        CONSTRAINT [PK_ClientApplicationExtractor] PRIMARY KEY ([ClientApplicationExtractorID]),
        CONSTRAINT [FK_ClientApplicationExtractor_ClientApplicationId_ClientApplication_ClientApplicationID]
            FOREIGN KEY ([ClientApplicationId])
            REFERENCES [registration].[ClientApplication] ([ClientApplicationID])
    );
GO

DROP INDEX IF EXISTS [IX_ClientApplicationExtractor_ClientApplicationId]
    ON [registration].[ClientApplicationExtractor];
CREATE INDEX [IX_ClientApplicationExtractor_ClientApplicationId]
    ON [registration].[ClientApplicationExtractor] ([ClientApplicationId], [CreatedAt]);
GO
