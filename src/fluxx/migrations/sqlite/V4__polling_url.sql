-- Story 3: extractors that answer polls at another address.
ALTER TABLE "ClientApplicationExtractor" ADD COLUMN "PollingUrl" VARCHAR(500);
