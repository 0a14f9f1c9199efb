-- Story 3: extractors that answer polls at another address.
ALTER TABLE "registration"."ClientApplicationExtractor" ADD COLUMN IF NOT EXISTS "PollingUrl" VARCHAR(500);
