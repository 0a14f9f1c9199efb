"""``fluxx check``: whether the settings make sense and what they name answers."""

from typing import TYPE_CHECKING

import typer

from fluxx.cli import output
from fluxx.cli.exits import FAILED
from fluxx.cli.opening import with_world
from fluxx.cli.options import AsJson

if TYPE_CHECKING:
    from fluxx.wiring import World


def check(as_json: AsJson = False) -> None:
    """Check the settings, and that what they name answers.

    That is the database, the bus, the blob store and the secret store. Exit status 1 where one doesn't.
    """
    found = with_world(_checked)
    if as_json:
        output.json_line(found)
    else:
        output.fields(list(found.items()))
    if set(found.values()) != {"ok"}:
        raise typer.Exit(FAILED)


async def _checked(world: "World") -> dict[str, str]:
    from fluxx.errors import FluxxError

    questions = {
        "database": world.database.check,
        "bus": world.bus.check,
        "blobs": world.blobs.check,
        "secrets": world.secrets.check,
    }
    found = {}
    for name, ask in questions.items():
        try:
            await ask()
        except FluxxError as error:
            found[name] = str(error)
        else:
            found[name] = "ok"
    return found
