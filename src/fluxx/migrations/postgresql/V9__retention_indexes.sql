-- What retention walks along: the events of a job, and the oldest files.
CREATE INDEX IF NOT EXISTS "IX_Outbox_JobID" ON "extractor"."Outbox" ("JobID");

CREATE INDEX IF NOT EXISTS "IX_File_CreatedAt" ON "file"."File" ("CreatedAt");
