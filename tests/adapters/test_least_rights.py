"""Each role looks only for what it uses of Azure: it has no rights to the rest, or the rest isn't there."""

import random
from contextlib import nullcontext
from pathlib import Path

import pytest
from azure.core.exceptions import ClientAuthenticationError
from azure.storage.blob.aio import BlobClient, BlobServiceClient

from fluxx import wiring
from fluxx.adapters.azure.blobs import AzureBlobs
from fluxx.clock import SystemClock
from fluxx.errors import FluxxError, Misconfigured
from fluxx.roles import Roles
from fluxx.running import checks
from fluxx.settings import load
from fluxx.telemetry import Facts
from servers.azurite.server import Azurite
from support.servicebus import running_servicebus

FOR_WORKERS = ["accepted-file/fluxx-extraction", "job-status"]
MISSED = {"files": "no topic accepted-file", "worker": "no topic job-status"}


async def look(home: Path, connection_string: str, roles: Roles) -> None:
    settings = load(fluxx_home=home, service_bus_connection_string=connection_string)
    clock, chance = SystemClock(), random.Random(1)
    async with wiring.connect(settings, facts=Facts(), clock=clock, chance=chance, roles=roles) as world:
        for check in checks(world, roles).values():
            await check()


@pytest.mark.parametrize(
    ("roles", "there"),
    [
        ({"registration"}, []),
        ({"jobs"}, []),
        ({"files"}, ["accepted-file"]),
        ({"worker"}, FOR_WORKERS),
        ({"worker", "files", "jobs"}, FOR_WORKERS),
    ],
)
async def test_a_role_needs_the_topics_it_uses_and_no_others(tmp_path: Path, roles: Roles, there: list[str]) -> None:
    with running_servicebus() as server:
        for role in sorted(roles & MISSED.keys()):
            with pytest.raises(Misconfigured, match=MISSED[role]):
                await look(tmp_path, server.connection_string, roles)
        for entity in there:
            topic, _, subscription = entity.partition("/")
            server.add_topic(topic)
            if subscription:
                server.add_subscription(topic, subscription)
        await look(tmp_path, server.connection_string, roles)


class ForbiddenSigning:
    """An identity without the right to keys that sign."""

    async def sign(self, blob: BlobClient, expires_at: object) -> str:
        raise AssertionError(blob.url, expires_at)

    async def ready(self) -> None:
        raise ClientAuthenticationError("AuthorizationPermissionMismatch")


@pytest.mark.parametrize("signs", [True, False])
async def test_who_signs_no_urls_needs_no_right_to(azurite: Azurite, signs: bool) -> None:  # noqa: FBT001 - a case
    name = f"least-rights-{signs}".lower()
    async with BlobServiceClient.from_connection_string(azurite.connection_string) as service:
        await service.create_container(name)
        with pytest.raises(FluxxError) if signs else nullcontext():
            await AzureBlobs(service, name, ForbiddenSigning(), signs=signs).check()
