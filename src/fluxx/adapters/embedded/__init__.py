"""The ports on nothing but the local disk: no server to install, nothing to configure."""
