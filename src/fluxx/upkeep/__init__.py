"""What keeps a long-running service small: retention and purge."""
