-- Story 3: extractors that answer polls at another address.
IF COL_LENGTH(N'registration.ClientApplicationExtractor', N'PollingUrl') IS NULL
    ALTER TABLE [registration].[ClientApplicationExtractor] ADD [PollingUrl] VARCHAR(500) NULL;
GO
