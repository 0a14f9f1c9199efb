"""Settings kept in Azure App Configuration; the wiring lays them over environment, ``.env`` and defaults.

Keys are the settings' names (``MAX_POLL_ATTEMPTS``), under the label ``APP_CONFIG_LABEL`` or none.
References to Key Vault secrets are resolved. Read once, at start: a change counts after a restart.
"""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from typing import Any, Final, Self, TypeAlias

from azure.appconfiguration import ConfigurationSetting, SecretReferenceConfigurationSetting
from azure.appconfiguration.aio import AzureAppConfigurationClient
from azure.core.exceptions import AzureError, HttpResponseError, ResourceNotFoundError
from azure.keyvault.secrets import KeyVaultSecretIdentifier
from azure.keyvault.secrets.aio import SecretClient

from fluxx.adapters.azure.failures import words
from fluxx.adapters.azure.identity import BoundedCredential, credential
from fluxx.adapters.azure.secrets import secret_client
from fluxx.errors import Misconfigured, Unavailable
from fluxx.settings import Settings

BOUND: Final = 30.0
"""Seconds for reading everything, retries included."""
NO_LABEL: Final = "\0"
RETRIES: Final = 3
ClientOptions: TypeAlias = Callable[[], dict[str, Any]]


async def read(
    settings: Settings, environment: Mapping[str, str] = os.environ, *, transport: ClientOptions = dict
) -> dict[str, str]:
    """Return what App Configuration holds for the settings, by their names in lower case.

    ``transport`` gives further options for each of the SDK's clients. Raises ``Misconfigured`` where
    the store refuses or a reference leads nowhere, ``Unavailable`` where something can't be reached:
    to start with half of the settings would be worse than not to start.
    """
    names = type(settings).model_fields
    try:
        async with asyncio.timeout(BOUND), _Reader(environment, transport) as reader:
            found = await reader.listed(settings)
            return {name: await reader.value(found[name]) for name in names if name in found}
    except TimeoutError:
        raise Unavailable(f"App Configuration gave no answer within {BOUND:g} s.") from None


@contextmanager
def _told(what: str) -> Iterator[None]:
    try:
        yield
    except AzureError as error:
        refused = isinstance(error, HttpResponseError) and error.status_code in {401, 403}
        raise (Misconfigured if refused else Unavailable)(f"{what} can't be read: {words(error)}.") from error


class _Reader:
    """Holds the clients of one reading, and an identity from the moment that it is needed."""

    def __init__(self, environment: Mapping[str, str], transport: ClientOptions) -> None:
        self._environment = environment
        self._transport = transport
        self._stack = AsyncExitStack()
        self._identity: BoundedCredential | None = None
        self._vaults: dict[str, SecretClient] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def listed(self, settings: Settings) -> dict[str, ConfigurationSetting]:
        client = self._client(settings)
        self._stack.push_async_callback(client.close)
        label = settings.app_config_label or NO_LABEL
        with _told("App Configuration"):
            return {each.key.lower(): each async for each in client.list_configuration_settings(label_filter=label)}

    async def value(self, found: ConfigurationSetting) -> str:
        if not isinstance(found, SecretReferenceConfigurationSetting):
            return found.value or ""
        with _told(f"{found.key}: the Key Vault that App Configuration refers to"):
            return await self._referred(found)

    async def _referred(self, found: SecretReferenceConfigurationSetting) -> str:
        try:
            secret_id = KeyVaultSecretIdentifier(found.secret_id or "")
            client = self._vault(secret_id.vault_url)
            secret = await client.get_secret(secret_id.name, secret_id.version, retry_total=RETRIES)
        except (ValueError, ResourceNotFoundError) as error:
            raise Misconfigured(f"{found.key}: its Key Vault reference in App Configuration leads nowhere.") from error
        return secret.value or ""

    def _client(self, settings: Settings) -> AzureAppConfigurationClient:
        options: dict[str, Any] = {
            "retry_total": RETRIES,
            "retry_backoff_max": 2,
            "connection_timeout": 5,
            "read_timeout": 10,
            **self._transport(),
        }
        try:
            if settings.app_config_connection_string is not None:
                connection_string = settings.app_config_connection_string.get_secret_value()
                return AzureAppConfigurationClient.from_connection_string(connection_string, **options)
            return AzureAppConfigurationClient(settings.app_config_endpoint or "", self._credential(), **options)
        except ValueError:
            raise Misconfigured("APP_CONFIG_CONNECTION_STRING or APP_CONFIG_ENDPOINT can't be used as it is.") from None

    def _vault(self, url: str) -> SecretClient:
        if url not in self._vaults:
            self._vaults[url] = secret_client(url, self._credential(), **self._transport())
            self._stack.push_async_callback(self._vaults[url].close)
        return self._vaults[url]

    def _credential(self) -> BoundedCredential:
        if self._identity is None:
            self._identity = credential(self._environment)
            self._stack.push_async_callback(self._identity.close)
        return self._identity
