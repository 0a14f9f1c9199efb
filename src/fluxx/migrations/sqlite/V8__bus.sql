-- Topics and subscriptions where no broker is configured: one row per message and subscription.
CREATE TABLE IF NOT EXISTS "BusMessage" (
    -- AUTOINCREMENT: the number of a deleted message never comes again, or who browses would miss one.
    "BusMessageID" INTEGER NOT NULL CONSTRAINT "PK_BusMessage" PRIMARY KEY AUTOINCREMENT,
    "Topic" VARCHAR(100) NOT NULL,
    "Subscription" VARCHAR(100) NOT NULL,
    "MessageId" VARCHAR(100) NOT NULL,
    "OrderKey" VARCHAR(100),
    "ContentType" VARCHAR(100) NOT NULL,
    "Body" BLOB NOT NULL,
    "TraceContext" VARCHAR(100),
    "EnqueuedAt" VARCHAR(32) NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000+00:00', 'now')),
    "VisibleAt" VARCHAR(32) NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000+00:00', 'now')),
    "LockToken" VARCHAR(36),
    "DeliveryCount" INTEGER NOT NULL DEFAULT 0,
    "DeadLetterReason" VARCHAR(100),
    "DeadLetterDescription" TEXT,
    CONSTRAINT "UQ_BusMessage_Topic_Subscription_MessageId" UNIQUE ("Topic", "Subscription", "MessageId")
);

CREATE INDEX IF NOT EXISTS "IX_BusMessage_Topic_Subscription"
    ON "BusMessage" ("Topic", "Subscription", "BusMessageID");
