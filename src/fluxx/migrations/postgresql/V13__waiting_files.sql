-- Uploaded files whose message no worker has dealt with yet: a row comes with the file and goes with its jobs.
CREATE TABLE IF NOT EXISTS "file"."WaitingFile" (
    "FileID" UUID NOT NULL,
    "Since" TIMESTAMPTZ NOT NULL,
    CONSTRAINT "PK_WaitingFile" PRIMARY KEY ("FileID")
);

CREATE INDEX IF NOT EXISTS "IX_WaitingFile_Since" ON "file"."WaitingFile" ("Since");
