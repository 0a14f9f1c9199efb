"""One identity, chosen by what is configured, within a bound; nothing is probed."""

import asyncio
import time

import pytest
from azure.core.credentials import AccessToken
from azure.identity import CredentialUnavailableError

from fluxx.adapters.azure.identity import BoundedCredential, credential
from fluxx.errors import Misconfigured
from servers.identity import IdentityServer, audience_of

FEDERATED = {"AZURE_CLIENT_ID": "c", "AZURE_TENANT_ID": "t", "AZURE_FEDERATED_TOKEN_FILE": "/var/run/token"}
SECRET = {"AZURE_CLIENT_ID": "c", "AZURE_TENANT_ID": "t", "AZURE_CLIENT_SECRET": "s"}
CONTAINER_APP = {"IDENTITY_ENDPOINT": "http://127.0.0.1:9/msi/token", "IDENTITY_HEADER": "h"}


@pytest.mark.parametrize(
    ("environment", "kind"),
    [
        (FEDERATED, "WorkloadIdentityCredential"),
        (SECRET, "ClientSecretCredential"),
        (CONTAINER_APP, "ManagedIdentityCredential"),
        ({**CONTAINER_APP, "AZURE_CLIENT_ID": "c"}, "ManagedIdentityCredential"),
        ({"AZURE_CLIENT_ID": "c"}, "ManagedIdentityCredential"),
        ({**FEDERATED, **CONTAINER_APP}, "WorkloadIdentityCredential"),
        ({"AZURE_TOKEN_CREDENTIALS": "ManagedIdentityCredential"}, "ManagedIdentityCredential"),
        ({"AZURE_TOKEN_CREDENTIALS": "AzureCliCredential"}, "AzureCliCredential"),
        ({**FEDERATED, **SECRET, "AZURE_TOKEN_CREDENTIALS": "EnvironmentCredential"}, "ClientSecretCredential"),
    ],
)
async def test_the_environment_chooses(environment: dict[str, str], kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    async with credential(environment) as chosen:
        assert chosen.kind == kind


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({}, "No Azure identity is configured: set AZURE_CLIENT_ID"),
        ({"AZURE_TENANT_ID": "t"}, "No Azure identity is configured"),
        ({"AZURE_TOKEN_CREDENTIALS": "prod"}, "AZURE_TOKEN_CREDENTIALS must be one of WorkloadIdentityCredential, "),
        ({"AZURE_TOKEN_CREDENTIALS": "EnvironmentCredential"}, "EnvironmentCredential needs AZURE_CLIENT_ID"),
    ],
)
def test_an_environment_that_names_none_says_what_to_set(environment: dict[str, str], words: str) -> None:
    with pytest.raises(Misconfigured, match=words):
        credential(environment)


async def test_a_managed_identity_gets_its_token(
    azure_credential: BoundedCredential, identity_server: IdentityServer
) -> None:
    token = await azure_credential.get_token("https://vault.azure.net/.default")
    assert audience_of(f"Bearer {token.token}") == "https://vault.azure.net"
    await azure_credential.get_token("https://vault.azure.net/.default")
    assert len(identity_server.requests) == 1, "tokens are kept"


class NeverAnswers:
    """A credential whose endpoint isn't there."""

    async def get_token(self, *_: str, **__: object) -> AccessToken:
        await asyncio.Event().wait()
        raise AssertionError

    async def close(self) -> None:
        """Nothing is held open."""

    async def __aexit__(self, *_: object) -> None:
        """Nothing is held open."""


async def test_a_token_that_does_not_come_is_given_up_at_the_bound() -> None:
    started = time.monotonic()
    with pytest.raises(CredentialUnavailableError, match=r"NeverAnswers gave no token within 0\.05 s"):
        await BoundedCredential(NeverAnswers(), seconds=0.05).get_token("scope")
    assert time.monotonic() - started < 5
