-- Client applications and the extractors registered for them.
-- Without schemas; ids are text of 36 characters, moments ISO 8601 text of 32, so that text order is time order.
CREATE TABLE IF NOT EXISTS "ClientApplication" (
    "ClientApplicationID" VARCHAR(36) NOT NULL,
    "Name" VARCHAR(200) NOT NULL,
    "IsActive" BOOLEAN NOT NULL DEFAULT 1,
    "CreatedAt" VARCHAR(32) NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000+00:00', 'now')),
    "UpdatedAt" VARCHAR(32) NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000+00:00', 'now')),
    CONSTRAINT "PK_ClientApplication" PRIMARY KEY ("ClientApplicationID")
);

CREATE TABLE IF NOT EXISTS "ClientApplicationExtractor" (
    "ClientApplicationExtractorID" VARCHAR(36) NOT NULL,
    "ClientApplicationId" VARCHAR(36) NOT NULL,
    "Name" VARCHAR(200) NOT NULL,
    "ExtractionUrl" VARCHAR(500) NOT NULL,
    "IsActive" BOOLEAN NOT NULL DEFAULT 1,
    "CreatedAt" VARCHAR(32) NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000+00:00', 'now')),
    "UpdatedAt" VARCHAR(32) NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000+00:00', 'now')),
    CONSTRAINT "PK_ClientApplicationExtractor" PRIMARY KEY ("ClientApplicationExtractorID"),
    CONSTRAINT "FK_ClientApplicationExtractor_ClientApplicationId_ClientApplication_ClientApplicationID"
        FOREIGN KEY ("ClientApplicationId")
        REFERENCES "ClientApplication" ("ClientApplicationID")
);

CREATE INDEX IF NOT EXISTS "IX_ClientApplicationExtractor_ClientApplicationId"
    ON "ClientApplicationExtractor" ("ClientApplicationId", "CreatedAt");
