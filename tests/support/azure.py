"""Fixtures for tests on Azure's side: Azurite, a Key Vault, App Configuration, and an identity for them.

Each server is started when the first test asks for it, and ended with the tests.
"""

import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
import trustme
from azure.core.pipeline.transport import AioHttpTransport

from fluxx.adapters.azure.identity import BoundedCredential, credential
from servers.app_configuration import AppConfigurationServer
from servers.azurite.server import Azurite, Certificate, NodeMissing, running_azurite
from servers.identity import IdentityServer
from servers.key_vault import KeyVaultServer


@contextmanager
def azurite_or_skip(certificate: Certificate | None = None) -> Iterator[Azurite]:
    """Run Azurite; where there is no Node.js for it, skip and say so."""
    try:
        with running_azurite(certificate) as server:
            yield server
    except NodeMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def azurite() -> Iterator[Azurite]:
    """A blob server over HTTP, for the account's key."""
    with azurite_or_skip() as server:
        yield server


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    """Who signs the certificates of the servers below."""
    return trustme.CA()


@pytest.fixture(scope="session")
def azurite_with_tokens(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Azurite]:
    """A blob server over HTTPS, for an identity's tokens."""
    folder = tmp_path_factory.mktemp("azurite")
    issued = authority.issue_cert("127.0.0.1")
    certificate = Certificate(folder / "chain.pem", folder / "key.pem")
    issued.cert_chain_pems[0].write_to_path(certificate.chain)
    issued.private_key_pem.write_to_path(certificate.key)
    with azurite_or_skip(certificate) as server:
        yield server


@pytest.fixture(scope="session")
def trusting(authority: trustme.CA) -> ssl.SSLContext:
    """A client's TLS context that trusts the authority."""
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


@pytest.fixture
def server_context(authority: trustme.CA) -> ssl.SSLContext:
    """A server's TLS context, with a certificate for loopback."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


@pytest_asyncio.fixture
async def identity_server() -> AsyncIterator[IdentityServer]:
    """The token endpoint of a managed identity."""
    async with IdentityServer() as server:
        yield server


@pytest_asyncio.fixture
async def azure_credential(
    identity_server: IdentityServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[BoundedCredential]:
    """The managed identity, as Azure would give it to a container."""
    for name, value in identity_server.environment.items():
        monkeypatch.setenv(name, value)
    async with credential(identity_server.environment) as chosen:
        yield chosen


@pytest_asyncio.fixture
async def key_vault(server_context: ssl.SSLContext) -> AsyncIterator[KeyVaultServer]:
    """A vault with nothing in it."""
    async with KeyVaultServer(server_context) as server:
        yield server


@pytest_asyncio.fixture
async def app_configuration() -> AsyncIterator[AppConfigurationServer]:
    """An App Configuration store with nothing in it."""
    async with AppConfigurationServer() as server:
        yield server


def transport(trusting: ssl.SSLContext) -> dict[str, Any]:
    """Return the argument that lets an SDK client trust the authority, on connections that are kept."""
    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trusting))
    return {"transport": AioHttpTransport(session=session, session_owner=True)}
