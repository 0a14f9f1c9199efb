"""Who this process is to Azure: one credential, shared by every adapter, chosen by what is configured.

Nothing is probed: off Azure, the SDK's ``DefaultAzureCredential`` waits seconds to minutes for
endpoints that aren't there. The wiring makes one credential and closes it after the adapters.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Final, Self

from azure.core.credentials import AccessToken
from azure.core.credentials_async import AsyncTokenCredential
from azure.identity import CredentialUnavailableError
from azure.identity.aio import (
    AzureCliCredential,
    ClientSecretCredential,
    ManagedIdentityCredential,
    WorkloadIdentityCredential,
)

from fluxx.errors import Misconfigured

TOKEN_SECONDS: Final = 10.0
"""Longest wait for a token; a metadata endpoint that isn't there never answers."""

_Environment = Mapping[str, str]


class BoundedCredential:
    """A credential whose tokens come within ``seconds`` or not at all."""

    def __init__(self, inner: AsyncTokenCredential, seconds: float = TOKEN_SECONDS) -> None:
        self.kind = type(inner).__name__
        self._inner = inner
        self._seconds = seconds

    async def get_token(
        self,
        *scopes: str,
        claims: str | None = None,
        tenant_id: str | None = None,
        enable_cae: bool = False,
        **others: Any,
    ) -> AccessToken:
        """Return a token for ``scopes``; raises the SDK's ``CredentialUnavailableError`` after the bound."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._inner.get_token(
                    *scopes, claims=claims, tenant_id=tenant_id, enable_cae=enable_cae, **others
                )
        except TimeoutError as error:
            words = f"{self.kind} gave no token within {self._seconds:g} s."
            raise CredentialUnavailableError(words) from error

    async def close(self) -> None:
        """Give back connections."""
        await self._inner.close()

    async def __aenter__(self) -> Self:
        """Return itself; nothing is opened before the first token."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        """Give back connections."""
        await self.close()


def credential(environment: _Environment = os.environ) -> BoundedCredential:
    """Return the credential that the environment names, by the variables that Azure itself sets or documents.

    ``AZURE_TOKEN_CREDENTIALS`` names one outright; otherwise the first one that has what it needs is
    taken. Raises ``Misconfigured`` where there is none.
    """
    name = environment.get("AZURE_TOKEN_CREDENTIALS") or _first_possible(environment)
    if name not in _MAKERS:
        raise Misconfigured(f"AZURE_TOKEN_CREDENTIALS must be one of {', '.join(_MAKERS)}, not {name}.")
    try:
        return BoundedCredential(_MAKERS[name](environment))
    except KeyError as missing:
        raise Misconfigured(f"The Azure identity {name} needs {missing.args[0]}.") from None


def _first_possible(environment: _Environment) -> str:
    for name, needs in _CHOICES:
        if all(environment.get(need) for need in needs):
            return name
    raise Misconfigured(
        "No Azure identity is configured: set AZURE_CLIENT_ID (managed identity), or AZURE_CLIENT_ID, AZURE_TENANT_ID "
        "and AZURE_CLIENT_SECRET or AZURE_FEDERATED_TOKEN_FILE, or AZURE_TOKEN_CREDENTIALS, or use connection strings."
    )


def _workload_identity(environment: _Environment) -> AsyncTokenCredential:
    return WorkloadIdentityCredential(
        client_id=environment["AZURE_CLIENT_ID"],
        tenant_id=environment["AZURE_TENANT_ID"],
        token_file_path=environment["AZURE_FEDERATED_TOKEN_FILE"],
    )


def _client_secret(environment: _Environment) -> AsyncTokenCredential:
    return ClientSecretCredential(
        client_id=environment["AZURE_CLIENT_ID"],
        tenant_id=environment["AZURE_TENANT_ID"],
        client_secret=environment["AZURE_CLIENT_SECRET"],
    )


def _managed_identity(environment: _Environment) -> AsyncTokenCredential:
    """Return the user-assigned identity AZURE_CLIENT_ID, or the system-assigned one."""
    return ManagedIdentityCredential(client_id=environment.get("AZURE_CLIENT_ID") or None)


def _azure_cli(_: _Environment) -> AsyncTokenCredential:
    return AzureCliCredential()


_MAKERS: Final[dict[str, Callable[[_Environment], AsyncTokenCredential]]] = {
    "WorkloadIdentityCredential": _workload_identity,
    "EnvironmentCredential": _client_secret,
    "ManagedIdentityCredential": _managed_identity,
    "AzureCliCredential": _azure_cli,
}
"""By the names that azure-identity uses in AZURE_TOKEN_CREDENTIALS."""

_CHOICES: Final = (
    ("WorkloadIdentityCredential", ("AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_FEDERATED_TOKEN_FILE")),
    ("EnvironmentCredential", ("AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_CLIENT_SECRET")),
    ("ManagedIdentityCredential", ("IDENTITY_ENDPOINT", "IDENTITY_HEADER")),  # Container Apps, App Service
    ("ManagedIdentityCredential", ("AZURE_CLIENT_ID",)),  # virtual machines, AKS without workload identity
)
"""In the order of trying: what Azure puts into the environment of each host."""
