"""``fluxx extractor``: which service extracts the files of which client application."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final
from uuid import UUID

import typer

from fluxx.cli import output
from fluxx.cli.extractor_servers import serve_extractors
from fluxx.cli.grouping import group
from fluxx.cli.key_input import KeyFile, read_key
from fluxx.cli.opening import with_world
from fluxx.cli.options import AnyClientApplicationId, AsJson, ClientApplicationId, ExtractorId
from fluxx.cli.tables import Column, Room

if TYPE_CHECKING:
    from fluxx.model.job import Extractor
    from fluxx.registration.registering import ExtractorChange
    from fluxx.wiring import World

extractors: Final = group("Register extractors, or serve those that come with Fluxx.")

COLUMNS: Final = (
    Column("EXTRACTOR", Room.WHOLE),
    Column("NAME", Room.NAME),
    Column("ACTIVE", Room.WHOLE),
    Column("EXTRACTION URL"),
    Column("POLLING URL"),
)
Name = Annotated[str, typer.Option("--name", help="What people call it.")]
NewName = Annotated[str | None, typer.Option("--name", help="Its new name.")]
ExtractionUrl = Annotated[str, typer.Option("--url", metavar="URL", help="Where files are submitted.")]
NewExtractionUrl = Annotated[str | None, typer.Option("--url", metavar="URL", help="Where files are submitted.")]
PollingUrl = Annotated[
    str | None,
    typer.Option("--polling-url", metavar="URL", help="Where jobs are polled, if not at the extraction URL."),
]
NoPollingUrl = Annotated[bool, typer.Option("--no-polling-url", help="Poll at the extraction URL again.")]
Active = Annotated[bool | None, typer.Option("--activate/--deactivate", help="Whether new files make jobs for it.")]


@extractors.command("add")
def add_extractor(
    client_application: ClientApplicationId,
    name: Name,
    url: ExtractionUrl,
    polling_url: PollingUrl = None,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Register an extractor and print its id.

    Without --key-file it has no API key yet: store one with 'fluxx key set'.
    """
    key = read_key(key_file) if key_file else None
    from fluxx import wiring
    from fluxx.api.schemas import ExtractorDetails

    with _egress_explained():
        added = with_world(
            lambda world: wiring.registering(world).register_extractor(
                client_application, name=name, extraction_url=url, polling_url=polling_url, api_key=key
            )
        )
    if as_json:
        output.json_line(ExtractorDetails.of(added))
    else:
        output.line(str(added.client_application_extractor_id))


@extractors.command("list")
def list_extractors(client_application: AnyClientApplicationId = None, as_json: AsJson = False) -> None:
    """List the extractors, oldest first."""
    from fluxx.api.schemas import ExtractorDetails

    found = with_world(lambda world: world.registrations.extractors(client_application))
    if as_json:
        output.json_line([ExtractorDetails.of(each) for each in found])
        return
    rows = [
        (
            str(each.client_application_extractor_id),
            each.name,
            output.yes(each.is_active),
            each.extraction_url,
            each.polling_url or "",
        )
        for each in found
    ]
    output.listing(COLUMNS, rows, empty="No extractors yet: fluxx extractor add --help")


@extractors.command("change")
def change_extractor(
    extractor: ExtractorId,
    name: NewName = None,
    url: NewExtractionUrl = None,
    polling_url: PollingUrl = None,
    no_polling_url: NoPollingUrl = False,
    active: Active = None,
    as_json: AsJson = False,
) -> None:
    """Change an extractor; what isn't named stays as it is."""
    from msgspec import UNSET

    from fluxx.api.schemas import ExtractorDetails
    from fluxx.registration.registering import ExtractorChange

    change = ExtractorChange(
        name=UNSET if name is None else name,
        extraction_url=UNSET if url is None else url,
        polling_url=None if no_polling_url else UNSET if polling_url is None else polling_url,
        is_active=UNSET if active is None else active,
    )
    if change == ExtractorChange():
        raise typer.BadParameter("nothing to change was named")
    with _egress_explained():
        changed = with_world(lambda world: _changed(world, extractor, change))
    if as_json:
        output.json_line(ExtractorDetails.of(changed))


@extractors.command("deactivate")
def deactivate_extractor(extractor: ExtractorId) -> None:
    """Give an extractor no more jobs; those under way are finished."""
    from fluxx.registration.registering import ExtractorChange

    with_world(lambda world: _changed(world, extractor, ExtractorChange(is_active=False)))


extractors.command("serve")(serve_extractors)


@contextmanager
def _egress_explained() -> Iterator[None]:
    """Say of an address that isn't listed that this command looks in its own settings, not in those of the service."""
    from fluxx.errors import BadInput, EgressRefused

    try:
        yield
    except BadInput as error:
        refused = error.__cause__
        if not isinstance(refused, EgressRefused) or refused.unlisted is None:
            raise
        advice = f"This command needs it too: list {refused.unlisted} there, in its environment or in .env."
        raise BadInput(f"{error} {advice}", field=error.field) from refused


async def _changed(world: "World", extractor_id: UUID, change: "ExtractorChange") -> "Extractor":
    from fluxx import wiring

    found = await world.registrations.extractor(extractor_id)
    return await wiring.registering(world).change_extractor(found.client_application_id, extractor_id, change)
