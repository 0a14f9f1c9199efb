-- The files that client applications handed in.
CREATE TABLE IF NOT EXISTS "File" (
    "FileID" VARCHAR(36) NOT NULL,
    "ClientApplicationId" VARCHAR(36) NOT NULL,
    "FileName" VARCHAR(400) NOT NULL,
    "ContentType" VARCHAR(200) NOT NULL,
    "Size" BIGINT,
    "Sha256" VARCHAR(64),
    "BlobPath" VARCHAR(500) NOT NULL,
    "IsRemote" BOOLEAN NOT NULL DEFAULT 0,
    "CreatedAt" VARCHAR(32) NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000+00:00', 'now')),
    CONSTRAINT "PK_File" PRIMARY KEY ("FileID"),
    CONSTRAINT "FK_File_ClientApplicationId_ClientApplication_ClientApplicationID"
        FOREIGN KEY ("ClientApplicationId")
        REFERENCES "ClientApplication" ("ClientApplicationID")
);
