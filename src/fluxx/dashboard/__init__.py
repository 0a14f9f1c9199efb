"""The operator's page: server-rendered HTML over the same chapters as the APIs, with the same rights."""
