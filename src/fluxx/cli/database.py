"""``fluxx db``: the tables of the configured database."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Final

import typer

from fluxx.cli import output
from fluxx.cli.exits import FAILED
from fluxx.cli.grouping import group
from fluxx.cli.opening import load_settings, require_data, with_world
from fluxx.cli.options import AsJson
from fluxx.cli.tables import Column, Room

if TYPE_CHECKING:
    from sqlalchemy import Engine

database: Final = group("Bring the database up to date, look at it, purge it.")

COLUMNS: Final = (
    Column("VERSION", Room.WHOLE, right=True),
    Column("STATE", Room.WHOLE),
    Column("SCRIPT"),
    Column("INSTALLED (UTC)", Room.WHOLE),
)

UNITS: Final = {"d": "days", "h": "hours", "m": "minutes"}
OlderThan = Annotated[
    str, typer.Option("--older-than", metavar="AGE", help="Age at which it is forgotten, e.g. 90d, 36h or 30m.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Don't ask; only at a terminal is there a question.")]


@database.command("migrate")
def migrate_database(as_json: AsJson = False) -> None:
    """Apply the migrations that are pending; harmless to repeat."""
    from fluxx.adapters.sql import migrations

    with _engine(begins=True) as engine:
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
    """Say whether the database is up to date (else exit status 1)."""
    from fluxx.adapters.sql import migrations
    from fluxx.errors import Misconfigured

    with _engine() as engine:
        try:
            migrations.check(engine)
        except Misconfigured as behind:
            output.line(str(behind))
            raise typer.Exit(FAILED) from None
    output.line("The database is up to date.")


@database.command("purge")
def purge_database(older_than: OlderThan, yes: Yes = False, as_json: AsJson = False) -> None:
    """Forget jobs, files and events that ended long ago.

    Live jobs and unpublished events stay, whatever their age.
    """
    from fluxx import wiring

    age = _age(older_than)
    if not yes and sys.stdin.isatty():
        typer.confirm(f"Forget for good what ended more than {older_than} ago?", abort=True, err=True)
    forgotten = with_world(lambda world: wiring.purge(world).older_than(age))
    if as_json:
        output.json_line(forgotten)
    else:
        output.line(f"Forgot {forgotten.jobs} jobs, {forgotten.files} files and {forgotten.messages} messages.")


def _age(text: str) -> timedelta:
    """Return the age in ``90d``, ``36h`` or the like."""
    number, unit = text[:-1], text[-1:]
    if unit not in UNITS or not (number.isascii() and number.isdigit()) or int(number) == 0:
        raise typer.BadParameter(f"{text!r} is no age; say for example 90d or 36h", param_hint="--older-than")
    try:
        return timedelta(**{UNITS[unit]: int(number)})
    except OverflowError:
        raise typer.BadParameter(f"{text!r} is longer than there has been time", param_hint="--older-than") from None


@contextmanager
def _engine(*, begins: bool = False) -> "Iterator[Engine]":
    import asyncio

    from fluxx import wiring

    settings = asyncio.run(load_settings())
    if not begins:
        require_data(settings)
    engine = wiring.open_database(settings)
    try:
        yield engine
    finally:
        engine.dispose()
