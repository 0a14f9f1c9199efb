-- Uploaded files whose message no worker has dealt with yet: a row comes with the file and goes with its jobs.
IF OBJECT_ID(N'[file].[WaitingFile]', N'U') IS NULL
    CREATE TABLE [file].[WaitingFile] (
        [FileID] UNIQUEIDENTIFIER NOT NULL,
        [Since] DATETIMEOFFSET(6) NOT NULL,
        CONSTRAINT [PK_WaitingFile] PRIMARY KEY ([FileID])
    );
GO

DROP INDEX IF EXISTS [IX_WaitingFile_Since] ON [file].[WaitingFile];
CREATE INDEX [IX_WaitingFile_Since] ON [file].[WaitingFile] ([Since]);
GO
