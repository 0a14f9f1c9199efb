"""Databases for tests, on each dialect: fresh ones, empty or with the tables of today."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy.schema import DropTable

from fluxx.adapters.sql.engine import dialect_of, make_engine
from fluxx.adapters.sql.migration_history import HOME
from fluxx.adapters.sql.migration_history import NAME as HISTORY
from fluxx.adapters.sql.migrations import migrate
from fluxx.adapters.sql.tables import metadata
from support.postgres import Postgres

SQLSERVER_VARIABLE = "TEST_SQLSERVER_URL"
DIALECTS = ("sqlite", "postgresql", pytest.param("sqlserver", marks=pytest.mark.sqlserver))


class Databases:
    """Hands out databases. Tables are made once per dialect, and copied after that."""

    def __init__(self, folder: Path, postgres: Callable[[], Postgres]) -> None:
        self._folder = folder
        self._postgres = postgres
        self._sqlite_template: Path | None = None
        self._postgresql_template: str | None = None

    @contextmanager
    def sqlite(self, folder: Path, *, empty: bool = False) -> Iterator[str]:
        """Give the URL of a file in ``folder``."""
        path = folder / "fluxx.db"
        if not empty:
            if self._sqlite_template is None:
                self._sqlite_template = self._folder / "template.db"
                make_tables(f"sqlite:///{self._sqlite_template}")
            shutil.copyfile(self._sqlite_template, path)
        yield f"sqlite:///{path}"

    @contextmanager
    def postgresql(self, *, empty: bool = False) -> Iterator[str]:
        """Give the URL of a database that is dropped afterwards."""
        server = self._postgres()
        if not empty and self._postgresql_template is None:
            self._postgresql_template = server.create()
            make_tables(server.url(self._postgresql_template))
        name = server.create(template="template0" if empty else self._postgresql_template or "")
        try:
            yield server.url(name)
        finally:
            server.drop(name)

    @contextmanager
    def sqlserver(self, *, empty: bool = False) -> Iterator[str]:
        """Give the URL of the database in TEST_SQLSERVER_URL, after dropping our tables in it."""
        url = os.environ.get(SQLSERVER_VARIABLE)
        if not url:
            pytest.skip(f"needs a SQL Server whose database may be emptied: set {SQLSERVER_VARIABLE}")
        drop_tables(url)
        if not empty:
            make_tables(url)
        yield url

    @contextmanager
    def of(self, dialect: str, folder: Path, *, empty: bool = False) -> Iterator[str]:
        """Give the URL of a fresh database of ``dialect``; ``folder`` is for SQLite's file."""
        match dialect:
            case "sqlite":
                manager = self.sqlite(folder, empty=empty)
            case "postgresql":
                manager = self.postgresql(empty=empty)
            case _:
                manager = self.sqlserver(empty=empty)
        with manager as url:
            yield url


def make_tables(url: str) -> None:
    """Make the tables of today in an empty database."""
    engine = make_engine(url)
    migrate(engine)
    engine.dispose()


def drop_tables(url: str) -> None:
    """Drop every table of ours, whatever version they are of, and the memory of their migrations."""
    engine = make_engine(url)
    with engine.begin() as connection:
        for table in reversed(metadata.sorted_tables):
            connection.execute(DropTable(table, if_exists=True))
        home = HOME[dialect_of(engine)]
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS {home + '.' if home else ''}{HISTORY}")
    engine.dispose()
