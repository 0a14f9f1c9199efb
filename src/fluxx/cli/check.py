"""``fluxx check``: whether the settings make sense and what they name answers."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING
from uuid import UUID

import typer

from fluxx.cli import output
from fluxx.cli.exits import FAILED
from fluxx.cli.opening import with_world
from fluxx.cli.options import AsJson

if TYPE_CHECKING:
    from fluxx.wiring import World


def check(as_json: AsJson = False) -> None:
    """Check the settings, and that what they name answers.

    That is the database, the bus, the blob store, the secret store and, where they are set, the Registration API
    and the issuer of tokens. Exit status 1 where one doesn't.
    """
    found, home = with_world(_checked, prepared=False)
    if as_json:
        output.json_line(found)
    else:
        output.fields([*home, *found.items()])
    if set(found.values()) != {"ok"}:
        raise typer.Exit(FAILED)


async def _checked(world: "World") -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return what each part answers, and the folder that some of them lie in, if they do."""
    from fluxx.api.access.credentials import credentials
    from fluxx.errors import FluxxError

    credentials(world.settings, clock=world.clock, facts=world.facts)
    found = {}
    for name, ask in _questions(world).items():
        try:
            await ask()
        except FluxxError as error:
            found[name] = str(error)
        else:
            found[name] = "ok"
    return found, [("home", str(world.settings.fluxx_home))] if world.settings.uses_home else []


def _questions(world: "World") -> dict[str, Callable[[], Awaitable[None]]]:
    from fluxx import wiring

    settings = world.settings
    questions: dict[str, Callable[[], Awaitable[None]]] = {
        "database": lambda: wiring.prepare(world),
        "bus": world.bus.check,
        "blobs": world.blobs.check,
        "secrets": world.secrets.check,
    }
    if settings.registration_url is not None:
        questions["registration"] = lambda: _ask_registration(world)
    if settings.auth_issuer is not None:
        questions["issuer"] = lambda: _ask_issuer(world)
    return questions


async def _ask_registration(world: "World") -> None:
    """Ask for a client application that there can't be: whoever says so is there, and knows our key."""
    from fluxx.errors import NotFound

    with suppress(NotFound):
        await world.registry.active_extractors(UUID(int=0))


async def _ask_issuer(world: "World") -> None:
    from fluxx.api.access.issuer import Issuer

    issuer = Issuer(world.settings.auth_issuer or "", clock=world.clock, facts=world.facts)
    await issuer.key("")
