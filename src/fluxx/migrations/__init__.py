"""The scripts that make the tables: Flyway's file names, the same numbers for each dialect."""
