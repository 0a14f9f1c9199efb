"""Everything that Fluxx uses of Azure, on this machine: ``make azure-local``.

Prints the settings to export in another shell and runs until Ctrl-C; nothing is kept. Blob Storage
is Azurite and needs Node.js; without it, files stay in FLUXX_HOME.
"""

import asyncio
import shlex
import ssl
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import certifi
import trustme
from azure.storage.blob import ContainerClient

from fluxx.settings import Settings
from servers.app_configuration import AppConfigurationServer
from servers.azurite.server import NodeMissing, running_azurite
from servers.identity import IdentityServer
from servers.key_vault import KeyVaultServer
from servers.servicebus.server import ServiceBusServer

Exports = dict[str, str]

DEFAULTS: Final = Settings.model_construct()


@contextmanager
def service_bus(*, lock_seconds: float = 60.0) -> Iterator[ServiceBusServer]:
    """Run Service Bus with the topics and subscriptions of the default settings."""
    server = ServiceBusServer()
    server.start()
    server.add_topic(DEFAULTS.topic_accepted_file)
    server.add_subscription(
        DEFAULTS.topic_accepted_file,
        DEFAULTS.accepted_file_subscription,
        lock_seconds=lock_seconds,
        max_deliveries=2000,
    )
    server.add_topic(DEFAULTS.topic_job_status)
    server.add_subscription(DEFAULTS.topic_job_status, DEFAULTS.job_status_subscription)
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def messages() -> Iterator[Exports]:
    """Run Service Bus; give the setting for it."""
    with service_bus() as server:
        yield {"SERVICE_BUS_CONNECTION_STRING": server.connection_string}


@contextmanager
def blobs() -> Iterator[Exports]:
    """Run Azurite with the container."""
    try:
        with running_azurite() as azurite:
            connection_string = azurite.connection_string
            with ContainerClient.from_connection_string(connection_string, DEFAULTS.storage_container) as container:
                container.create_container()
            yield {"STORAGE_CONNECTION_STRING": connection_string}
    except NodeMissing as missing:
        sys.stderr.write(f"{missing}: files stay in FLUXX_HOME.\n")
        yield {}


def trusted(authority: trustme.CA, folder: Path) -> Path:
    """Write the certificates that everybody trusts, and the vault's."""
    bundle = folder / "trusted.pem"
    bundle.write_bytes(Path(certifi.where()).read_bytes() + authority.cert_pem.bytes())
    return bundle


@asynccontextmanager
async def key_vault(folder: Path) -> AsyncIterator[tuple[KeyVaultServer, Exports]]:
    """Run a Key Vault, and the managed identity that may use it; give the settings for both beside it."""
    authority = trustme.CA()
    bundle = trusted(authority, folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    async with IdentityServer() as identity, KeyVaultServer(context) as vault:
        yield vault, {"KEY_VAULT_URL": vault.url, "SSL_CERT_FILE": str(bundle), **identity.environment}


@asynccontextmanager
async def vault_and_identity(folder: Path) -> AsyncIterator[Exports]:
    """Run a Key Vault with its identity; give the settings for them."""
    async with key_vault(folder) as (_, exports):
        yield exports


@asynccontextmanager
async def configuration() -> AsyncIterator[Exports]:
    """Run App Configuration with one value in it, to see it win."""
    async with AppConfigurationServer() as server:
        server.put("POLL_INTERVAL_SECONDS", "2")
        yield {"APP_CONFIG_CONNECTION_STRING": server.connection_string}


async def run() -> None:
    with TemporaryDirectory() as folder, ExitStack() as stack:
        exports = {**stack.enter_context(messages()), **stack.enter_context(blobs())}
        async with vault_and_identity(Path(folder)) as vault, configuration() as settings:
            exports |= {**vault, **settings, "EGRESS_ALLOWED_NETWORKS": "127.0.0.0/8"}
            for name, value in exports.items():
                sys.stdout.write(f"export {name}={shlex.quote(value)}\n")
            sys.stdout.flush()
            sys.stderr.write("Running until Ctrl-C.\n")
            await asyncio.Event().wait()


if __name__ == "__main__":
    try:
        asyncio.run(run())
    except KeyboardInterrupt:
        sys.exit(0)
