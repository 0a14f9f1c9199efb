-- What became of a file that somebody knows by its name.
CREATE INDEX IF NOT EXISTS "IX_File_FileName_CreatedAt" ON "File" ("FileName", "CreatedAt");
