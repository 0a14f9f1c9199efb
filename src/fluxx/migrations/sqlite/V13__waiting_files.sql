-- Uploaded files whose message no worker has dealt with yet: a row comes with the file and goes with its jobs.
CREATE TABLE IF NOT EXISTS "WaitingFile" (
    "FileID" VARCHAR(36) NOT NULL,
    "Since" VARCHAR(32) NOT NULL,
    CONSTRAINT "PK_WaitingFile" PRIMARY KEY ("FileID")
);

CREATE INDEX IF NOT EXISTS "IX_WaitingFile_Since" ON "WaitingFile" ("Since");
