-- Events that wait to be published, written beside the transitions; and who may publish them now.
CREATE TABLE IF NOT EXISTS "Outbox" (
    "OutboxID" INTEGER NOT NULL,
    "EventId" VARCHAR(36) NOT NULL,
    "JobID" VARCHAR(36) NOT NULL,
    "Body" TEXT NOT NULL,
    "TraceContext" VARCHAR(100),
    "CreatedAt" VARCHAR(32) NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000+00:00', 'now')),
    "PublishedAt" VARCHAR(32),
    CONSTRAINT "PK_Outbox" PRIMARY KEY ("OutboxID"),
    CONSTRAINT "UQ_Outbox_EventId" UNIQUE ("EventId")
);

CREATE INDEX IF NOT EXISTS "IX_Outbox_Unpublished" ON "Outbox" ("OutboxID")
    WHERE "PublishedAt" IS NULL;

CREATE TABLE IF NOT EXISTS "Lease" (
    "Name" VARCHAR(100) NOT NULL,
    "Owner" VARCHAR(36) NOT NULL,
    "ExpiresAt" VARCHAR(32) NOT NULL,
    CONSTRAINT "PK_Lease" PRIMARY KEY ("Name")
);
