"""The database: SQLite, PostgreSQL or SQL Server behind the same promises."""
