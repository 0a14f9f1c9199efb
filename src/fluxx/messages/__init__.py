"""The wire: accepted-file messages in, job-status events out. Golden files hold both still."""
