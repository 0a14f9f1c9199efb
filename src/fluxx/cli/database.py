"""``fluxx db``: the tables of the configured database."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import typer

from fluxx.cli import output
from fluxx.cli.exits import FAILED
from fluxx.cli.grouping import group
from fluxx.cli.options import AsJson

if TYPE_CHECKING:
    from sqlalchemy import Engine

database: Final = group("Bring the database's tables up to date, and see where they are.")

COLUMNS: Final = (
    output.Column("VERSION", whole=True, right=True),
    output.Column("STATE", whole=True),
    output.Column("SCRIPT"),
    output.Column("INSTALLED (UTC)", whole=True),
)


@database.command("migrate")
def migrate_database(as_json: AsJson = False) -> None:
    """Apply the migrations that are pending; harmless to repeat."""
    from fluxx.adapters.sql import migrations

    with _engine() as engine:
        applied = migrations.migrate(engine)
    if as_json:
        output.json_line(applied)
        return
    for each in applied:
        output.line(f"Applied {each.script}")
    output.line("The database is up to date.")


@database.command("info")
def show_migrations(as_json: AsJson = False) -> None:
    """List the migrations and which of them the database has."""
    from fluxx.adapters.sql import migrations

    with _engine() as engine:
        found = migrations.info(engine)
    if as_json:
        output.json_line(found)
        return
    rows = [(str(each.version), each.state, each.script, output.moment(each.installed_on)) for each in found]
    output.listing(COLUMNS, rows, empty="No migrations.")


@database.command("check")
def check_database() -> None:
    """Say whether the database is up to date; exit status 1 where it isn't."""
    from fluxx.adapters.sql import migrations
    from fluxx.errors import Misconfigured

    with _engine() as engine:
        try:
            migrations.check(engine)
        except Misconfigured as behind:
            output.line(str(behind))
            raise typer.Exit(FAILED) from None
    output.line("The database is up to date.")


@contextmanager
def _engine() -> "Iterator[Engine]":
    from fluxx import settings, wiring

    engine = wiring.open_database(settings.load())
    try:
        yield engine
    finally:
        engine.dispose()
