-- The files that client applications handed in.
IF SCHEMA_ID(N'file') IS NULL
    EXEC (N'CREATE SCHEMA [file]');
GO

IF OBJECT_ID(N'[file].[File]', N'U') IS NULL
    CREATE TABLE [file].[File] (
        [FileID] UNIQUEIDENTIFIER NOT NULL,
        [ClientApplicationId] UNIQUEIDENTIFIER NOT NULL,
        [FileName] NVARCHAR(400) NOT NULL,
        [ContentType] NVARCHAR(200) NOT NULL,
        [Size] BIGINT NULL,
        [Sha256] VARCHAR(64) NULL,
        [BlobPath] NVARCHAR(500) NOT NULL,
        [IsRemote] BIT NOT NULL CONSTRAINT [DF_File_IsRemote] DEFAULT 0,
        [CreatedAt] DATETIMEOFFSET(6) NOT NULL CONSTRAINT [DF_File_CreatedAt] DEFAULT SYSDATETIMEOFFSET(),
        CONSTRAINT [PK_File] PRIMARY KEY ([FileID]),
        CONSTRAINT [FK_File_ClientApplicationId_ClientApplication_ClientApplicationID]
            FOREIGN KEY ([ClientApplicationId])
            REFERENCES [registration].[ClientApplication] ([ClientApplicationID])
    );
GO
