-- The files that client applications handed in.
CREATE SCHEMA IF NOT EXISTS "file";

CREATE TABLE IF NOT EXISTS "file"."File" (
    "FileID" UUID NOT NULL,
    "ClientApplicationId" UUID NOT NULL,
    "FileName" VARCHAR(400) NOT NULL,
    "ContentType" VARCHAR(200) NOT NULL,
    "Size" BIGINT,
    "Sha256" VARCHAR(64),
    "BlobPath" VARCHAR(500) NOT NULL,
    "IsRemote" BOOLEAN NOT NULL DEFAULT FALSE,
    "CreatedAt" TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT "PK_File" PRIMARY KEY ("FileID"),
    CONSTRAINT "FK_File_ClientApplicationId_ClientApplication_ClientApplicationID"
        FOREIGN KEY ("ClientApplicationId")
        REFERENCES "registration"."ClientApplication" ("ClientApplicationID")
);
