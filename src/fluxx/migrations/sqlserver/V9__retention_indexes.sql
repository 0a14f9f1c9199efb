-- What retention walks along: the events of a job, and the oldest files.
DROP INDEX IF EXISTS [IX_Outbox_JobID] ON [extractor].[Outbox];
CREATE INDEX [IX_Outbox_JobID] ON [extractor].[Outbox] ([JobID]);
GO

DROP INDEX IF EXISTS [IX_File_CreatedAt] ON [file].[File];
CREATE INDEX [IX_File_CreatedAt] ON [file].[File] ([CreatedAt]);
GO
