"""``fluxx key``: the API keys of extractors, straight into the vault (story 6). None is ever shown again."""

from typing import TYPE_CHECKING, Final
from uuid import UUID

from fluxx.cli.grouping import group
from fluxx.cli.key_input import KeyFile, read_key
from fluxx.cli.opening import with_world
from fluxx.cli.options import ExtractorId

if TYPE_CHECKING:
    from fluxx.wiring import World

keys: Final = group("Store extractors' API keys in the vault.")


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
