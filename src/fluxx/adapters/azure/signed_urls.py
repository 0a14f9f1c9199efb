"""Read-only signed URLs (SAS) for single blobs: by the account's key, or by a user delegation key.

``AzureBlobs`` calls this; both ways promise a URL that reads one blob until a moment and no more.
No start time is set: a clock that runs ahead of Azure's would make a URL that isn't valid yet.
"""

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final, Protocol
from urllib.parse import urlsplit

import msgspec
from azure.core.exceptions import AzureError
from azure.storage.blob import BlobSasPermissions, UserDelegationKey, generate_blob_sas
from azure.storage.blob.aio import BlobClient, BlobServiceClient

from fluxx.adapters.azure.failures import told_as
from fluxx.adapters.shared_calls import SharedCalls
from fluxx.clock import Clock
from fluxx.errors import Misconfigured

KEY_LIFE: Final = timedelta(days=7)
"""What Azure allows a user delegation key to live, and so a URL signed by it."""
KEY_AGE: Final = timedelta(days=1)
"""A key older than this is renewed at the next signing, long before it ends."""
CLOCK_SKEW: Final = timedelta(minutes=15)


class UrlSigning(Protocol):
    """Makes a signed URL for a blob."""

    async def sign(self, blob: BlobClient, expires_at: datetime) -> str:
        """Return the URL; raises ``Unavailable`` or ``Misconfigured``."""
        ...

    async def ready(self) -> None:
        """Raise the SDK's error where nothing could be signed."""
        ...


class AccountKeySigning:
    """Signs by the storage account's own key, without asking anybody."""

    def __init__(self, account_name: str, account_key: str) -> None:
        self._account_name = account_name
        self._account_key = account_key

    async def sign(self, blob: BlobClient, expires_at: datetime) -> str:
        """Return the URL."""
        return _url(blob, self._account_name, expires_at, account_key=self._account_key)

    async def ready(self) -> None:
        """Return at once: the key is at hand."""


class DelegationSigning:
    """Signs by a user delegation key, fetched with the service's identity, kept and renewed early."""

    def __init__(self, service: BlobServiceClient, account_name: str, clock: Clock) -> None:
        self._service = service
        self._account_name = account_name
        self._clock = clock
        self._fetches = SharedCalls(self._fetched)
        self._kept: _KeptKey | None = None

    async def sign(self, blob: BlobClient, expires_at: datetime) -> str:
        """Return the URL; raises ``Misconfigured`` beyond seven days, which no such key lives."""
        if expires_at > self._clock.now() + KEY_LIFE - CLOCK_SKEW:
            raise Misconfigured("SIGNED_URL_TTL_SECONDS: an identity can't sign for as long as seven days.")
        with told_as("The storage account gives no key to sign file URLs with"):
            key = await self._valid_key(expires_at)
        return _url(blob, self._account_name, expires_at, user_delegation_key=key)

    async def ready(self) -> None:
        """Fetch a key if there is none; raises the SDK's error."""
        await self._valid_key(self._clock.now())

    async def _valid_key(self, until: datetime) -> UserDelegationKey:
        kept = self._kept
        if kept is None or until > kept.expires_at:
            return await self._fetches.get(None)
        if self._clock.now() > kept.fetched_at + KEY_AGE:
            with suppress(AzureError):  # the kept key does for now; the next signing tries again
                return await self._fetches.get(None)
        return kept.key

    async def _fetched(self, _: None) -> UserDelegationKey:
        now = self._clock.now()
        expires_at = now + KEY_LIFE - CLOCK_SKEW / 2
        key = await self._service.get_user_delegation_key(now - CLOCK_SKEW, expires_at)
        self._kept = _KeptKey(key, fetched_at=now, expires_at=expires_at)
        return key


class _KeptKey(msgspec.Struct, frozen=True):
    key: UserDelegationKey
    fetched_at: datetime
    expires_at: datetime


def _url(blob: BlobClient, account_name: str, expires_at: datetime, **keys: str | UserDelegationKey) -> str:
    if expires_at.microsecond:  # whole seconds are all that a SAS tells; rounding down would cut it short
        expires_at = expires_at.replace(microsecond=0) + timedelta(seconds=1)
    scheme = urlsplit(blob.url).scheme
    query = generate_blob_sas(
        account_name,
        blob.container_name,
        blob.blob_name,
        permission=BlobSasPermissions(read=True),
        expiry=expires_at,
        protocol="https" if scheme == "https" else "https,http",
        **keys,  # type: ignore[arg-type]
    )
    return f"{blob.url}?{query}"
