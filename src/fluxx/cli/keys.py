"""``fluxx key``: the API keys of extractors, straight into the vault (story 6), and keys of our own HTTP API.

None is ever shown again.
"""

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Final, Literal
from uuid import UUID

import typer

from fluxx.cli import output
from fluxx.cli.grouping import group
from fluxx.cli.key_input import KeyFile, read_key
from fluxx.cli.opening import load_settings, with_world
from fluxx.cli.options import AsJson, ExtractorId

if TYPE_CHECKING:
    from fluxx.wiring import World

keys: Final = group("Store extractors' API keys in the vault; make keys for callers.")

CallerName = Annotated[str, typer.Argument(metavar="NAME", help="Who will call: letters, digits, and any of . @ _ -")]
CallerRole = Annotated[
    Literal["read", "operate", "admin"],
    typer.Option("--role", help="What the caller may do; each includes the former."),
]
BoundTo = Annotated[
    UUID | None,
    typer.Option(
        "--client-application", metavar="ID", help="Let it see this client application's files and jobs only."
    ),
]


@keys.command("set")
def set_key(extractor: ExtractorId, key_file: KeyFile = None) -> None:
    """Store an extractor's API key.

    It is read from stdin or --key-file, or typed at a hidden prompt; never given as an argument.
    """
    key = read_key(key_file)
    from fluxx import wiring

    with_world(lambda world: wiring.registering(world).set_api_key(extractor, key))


@keys.command("delete")
def delete_key(extractor: ExtractorId) -> None:
    """Remove an extractor's API key; without one its jobs fail."""
    with_world(lambda world: _deleted(world, extractor))


async def _deleted(world: "World", extractor_id: UUID) -> None:
    await world.registrations.extractor(extractor_id)
    await world.secrets.delete_api_key(extractor_id)


@keys.command("new")
def new_key(name: CallerName, role: CallerRole, client_application: BoundTo = None, as_json: AsJson = False) -> None:
    """Make a key for a caller of the HTTP API.

    The key is shown this once and kept nowhere; its entry, which holds only a hash of it, goes into API_KEYS.
    """
    from fluxx.api.access import keys as api_keys
    from fluxx.api.access.callers import ROLE_NAMES
    from fluxx.errors import BadInput, Misconfigured

    if client_application is not None:
        _check_known(client_application)
    key = api_keys.new_key()
    try:
        entry = api_keys.entry_of(key, name=name, role=ROLE_NAMES[role], client_application_id=client_application)
    except Misconfigured:
        raise BadInput("the name must be of letters, digits, and any of . @ _ -", field="name") from None
    if as_json:
        output.json_line({"key": key, "entry": entry})
    else:
        output.fields([("key", key), ("API_KEYS", entry)])


def _check_known(client_application_id: UUID) -> None:
    """Refuse a client application that the database doesn't know; where none can be asked, it may be right."""
    import asyncio

    from fluxx.errors import Unavailable
    from fluxx.wiring_home import holds_data

    if holds_data(asyncio.run(load_settings())):
        with suppress(Unavailable):
            with_world(lambda world: world.registrations.active_extractors(client_application_id))
