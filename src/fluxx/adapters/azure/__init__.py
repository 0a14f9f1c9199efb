"""The ports on Azure: Service Bus, Blob Storage, Key Vault. Imported only where they are configured."""
