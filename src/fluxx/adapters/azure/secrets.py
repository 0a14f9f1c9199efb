"""API keys in Azure Key Vault, named by ``ClientApplicationExtractorID`` (story 6).

The wiring makes it from ``KEY_VAULT_URL``. A missing key is told from a vault that can't be asked:
the first fails a job, the second lets it wait.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from azure.core.credentials_async import AsyncTokenCredential
from azure.core.exceptions import AzureError, HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.keyvault.secrets import KeyVaultSecret
from azure.keyvault.secrets.aio import SecretClient

from fluxx.adapters.azure.failures import told_as, words
from fluxx.adapters.azure.patience import Patience
from fluxx.adapters.key_rules import checked_key, secret_name, usable_key
from fluxx.errors import Misconfigured, SecretMissing, Unavailable
from fluxx.ports.secrets import ApiKey
from fluxx.telemetry import Facts

READ_BOUND: Final = 10.0
"""Seconds for one key, retries included: well below a job's lease."""
CHANGE_BOUND: Final = 40.0
"""Seconds for a change: the vault takes its time to delete or recover a secret."""
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_NOBODY: Final = UUID(int=0)


def secret_client(vault_url: str, credential: AsyncTokenCredential, **transport: Any) -> SecretClient:
    """Return a client of the vault that leaves retries to its caller. Raises ``Misconfigured``."""
    parts = urlsplit(vault_url)
    if parts.scheme != "https" or not parts.hostname:
        raise Misconfigured("KEY_VAULT_URL must look like https://<vault>.vault.azure.net.")
    return SecretClient(
        vault_url,
        credential,
        # A vault must name its own domain when it asks for a token; a server on this machine has none.
        verify_challenge_resource=parts.hostname not in LOOPBACK,
        retry_total=0,
        connection_timeout=3,
        read_timeout=5,
        **transport,
    )


class VaultSecrets:
    """The ``Secrets`` port on one Key Vault."""

    def __init__(self, client: SecretClient, facts: Facts) -> None:
        self._client = client
        self._patience = Patience(facts)

    async def api_key(self, extractor_id: UUID, *, fresh: bool = False) -> ApiKey:  # noqa: ARG002 - nothing is kept here
        """Return the extractor's key; see the port."""
        name = secret_name(extractor_id)
        return await _found(name, self._patience.ask(lambda: self._client.get_secret(name), bound=READ_BOUND))

    async def set_api_key(self, extractor_id: UUID, key: ApiKey) -> None:
        """Store the key as a new version of its secret; raises ``BadInput`` for a key no header can carry."""
        name, value = secret_name(extractor_id), checked_key(key)
        await self._change(extractor_id, "stored", lambda: self._set(name, value))

    async def delete_api_key(self, extractor_id: UUID) -> None:
        """Remove the key; one that isn't there is fine. The vault itself keeps it recoverable for a while."""
        name = secret_name(extractor_id)
        await self._change(extractor_id, "removed", lambda: self._delete(name))

    async def check(self) -> None:
        """Raise ``Misconfigured`` where the vault refuses this identity, ``Unavailable`` where it is away.

        Asks once: who checks wants to know how it is now.
        """
        try:
            await _found(secret_name(_NOBODY), self._client.get_secret(secret_name(_NOBODY)))
        except SecretMissing:
            return  # asked, allowed to, and answered
        except Unavailable as error:
            cause = error.__cause__
            if isinstance(cause, HttpResponseError) and cause.status_code in {401, 403}:
                raise Misconfigured(f"KEY_VAULT_URL: {error}") from error
            raise

    async def close(self) -> None:
        """Give back connections."""
        await self._client.close()

    async def _change(self, extractor_id: UUID, done: str, call: Callable[[], Awaitable[None]]) -> None:
        with told_as(f"The key of extractor {extractor_id} can't be {done}"):
            await self._patience.ask(call, bound=CHANGE_BOUND)

    async def _set(self, name: str, value: str) -> None:
        try:
            await self._client.set_secret(name, value)
        except ResourceExistsError:
            # A deleted secret keeps its name until it is purged: it must be recovered before it is written.
            await self._client.recover_deleted_secret(name)
            await self._client.set_secret(name, value)

    async def _delete(self, name: str) -> None:
        try:
            await self._client.delete_secret(name)
        except ResourceNotFoundError:
            return


async def _found(name: str, asking: Awaitable[KeyVaultSecret]) -> ApiKey:
    """Return the key that the vault was asked for, or say what its answer means."""
    try:
        secret = await asking
    except ResourceNotFoundError as error:
        raise SecretMissing(f"The Key Vault holds no API key for extractor {name}.") from error
    except AzureError as error:
        if _is_disabled(error):
            raise SecretMissing(f"The API key of extractor {name} is disabled in the Key Vault.") from error
        raise Unavailable(f"The Key Vault can't be read: {words(error)}.") from error
    return usable_key(name, secret.value or "")


def _is_disabled(error: AzureError) -> bool:
    inner = getattr(getattr(error, "error", None), "innererror", None) or {}
    return inner.get("code") == "SecretDisabled"
