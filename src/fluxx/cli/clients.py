"""``fluxx client``: the applications that hand files to the platform."""

from typing import Annotated, Final

import typer

from fluxx.cli import output
from fluxx.cli.grouping import group
from fluxx.cli.opening import with_world
from fluxx.cli.options import AsJson
from fluxx.cli.tables import Column, Room

clients: Final = group("Register client applications: whoever hands in files.")

COLUMNS: Final = (
    Column("CLIENT APPLICATION", Room.WHOLE),
    Column("NAME", Room.NAME),
    Column("ACTIVE", Room.WHOLE),
    Column("CREATED (UTC)", Room.WHOLE),
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="What people call it.")]


@clients.command("add")
def add_client(name: Name, as_json: AsJson = False) -> None:
    """Register a client application and print its id."""
    from fluxx import wiring
    from fluxx.api.schemas import ClientApplicationDetails

    added = with_world(lambda world: wiring.registering(world).register_client_application(name), begins=True)
    if as_json:
        output.json_line(ClientApplicationDetails.of(added))
    else:
        output.line(str(added.client_application_id))


@clients.command("list")
def list_clients(as_json: AsJson = False) -> None:
    """List the client applications, oldest first."""
    from fluxx.api.schemas import ClientApplicationDetails

    found = with_world(lambda world: world.registrations.client_applications())
    if as_json:
        output.json_line([ClientApplicationDetails.of(each) for each in found])
        return
    rows = [
        (str(each.client_application_id), each.name, output.yes(each.is_active), output.moment(each.created_at))
        for each in found
    ]
    output.listing(COLUMNS, rows, empty="No client applications yet: fluxx client add NAME")
