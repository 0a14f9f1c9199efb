-- What became of a file that somebody knows by its name.
DROP INDEX IF EXISTS [IX_File_FileName_CreatedAt] ON [file].[File];
CREATE INDEX [IX_File_FileName_CreatedAt] ON [file].[File] ([FileName], [CreatedAt]);
GO
