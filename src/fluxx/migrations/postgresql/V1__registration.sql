-- Client applications and the extractors registered for them.
-- Names are quoted, so that they are the stories' names; PostgreSQL keeps the first 63 characters of long ones.
CREATE SCHEMA IF NOT EXISTS "registration";

CREATE TABLE IF NOT EXISTS "registration"."ClientApplication" (
    "ClientApplicationID" UUID NOT NULL,
    "Name" VARCHAR(200) NOT NULL,
    "IsActive" BOOLEAN NOT NULL DEFAULT TRUE,
    "CreatedAt" TIMESTAMPTZ NOT NULL DEFAULT now(),
    "UpdatedAt" TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT "PK_ClientApplication" PRIMARY KEY ("ClientApplicationID")
);

CREATE TABLE IF NOT EXISTS "registration"."ClientApplicationExtractor" (
    "ClientApplicationExtractorID" UUID NOT NULL,
    "ClientApplicationId" UUID NOT NULL,
    "Name" VARCHAR(200) NOT NULL,
    "ExtractionUrl" VARCHAR(500) NOT NULL,
    "IsActive" BOOLEAN NOT NULL DEFAULT TRUE,
    "CreatedAt" TIMESTAMPTZ NOT NULL DEFAULT now(),
    "UpdatedAt" TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT "PK_ClientApplicationExtractor" PRIMARY KEY ("ClientApplicationExtractorID"),
    CONSTRAINT "FK_ClientApplicationExtractor_ClientApplicationId_ClientApplication_ClientApplicationID"
        FOREIGN KEY ("ClientApplicationId")
        REFERENCES "registration"."ClientApplication" ("ClientApplicationID")
);

CREATE INDEX IF NOT EXISTS "IX_ClientApplicationExtractor_ClientApplicationId"
    ON "registration"."ClientApplicationExtractor" ("ClientApplicationId", "CreatedAt");
