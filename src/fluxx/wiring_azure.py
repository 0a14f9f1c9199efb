"""Azure's half of the wiring: what the settings name of Service Bus, Blob Storage and Key Vault.

Imported by ``wiring`` only when such a setting is there: the SDKs cost half a second and 60 MB.
"""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TypeAlias

from fluxx.adapters.azure import blobs as azure_blobs
from fluxx.adapters.azure.blobs import AzureBlobs
from fluxx.adapters.azure.bus import ServiceBus
from fluxx.adapters.azure.identity import BoundedCredential, credential
from fluxx.adapters.azure.secrets import VaultSecrets, secret_client
from fluxx.clock import Clock
from fluxx.settings import Settings
from fluxx.telemetry import Facts

Subscriptions: TypeAlias = Mapping[str, Sequence[str]]


class Azure:
    """Makes the adapters that are configured, with one identity for all; ``stack`` closes them."""

    def __init__(self, settings: Settings, stack: AsyncExitStack, *, clock: Clock, facts: Facts) -> None:
        self._settings = settings
        self._stack = stack
        self._clock = clock
        self._facts = facts
        self._identity: BoundedCredential | None = None

    def bus(self, subscriptions: Subscriptions, *, sends_to: Sequence[str]) -> ServiceBus:
        """Return Service Bus, by connection string or by namespace and identity; it must have what is named here."""
        secret = self._settings.service_bus_connection_string
        bus = ServiceBus(
            connection_string=secret.get_secret_value() if secret else None,
            namespace=None if secret else self._settings.service_bus_namespace,
            credential=None if secret else self._credential(),
            sends_to=sends_to,
            subscriptions=subscriptions,
        )
        self._stack.push_async_callback(bus.close)
        return bus

    def blobs(self, *, signs: bool) -> AzureBlobs:
        """Return Blob Storage, by connection string or by account URL and an identity that ``signs`` or doesn't."""
        secret, container = self._settings.storage_connection_string, self._settings.storage_container
        if secret:
            blobs = azure_blobs.by_connection_string(secret.get_secret_value(), container=container)
        else:
            account_url = self._settings.storage_account_url or ""
            blobs = azure_blobs.by_identity(
                account_url, self._credential(), container=container, clock=self._clock, signs=signs
            )
        self._stack.push_async_callback(blobs.close)
        return blobs

    def secrets(self, vault_url: str) -> VaultSecrets:
        """Return the Key Vault."""
        secrets = VaultSecrets(secret_client(vault_url, self._credential()), self._facts)
        self._stack.push_async_callback(secrets.close)
        return secrets

    def _credential(self) -> BoundedCredential:
        if self._identity is None:
            self._identity = credential()
            self._stack.push_async_callback(self._identity.close)
        return self._identity
