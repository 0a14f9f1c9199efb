"""What an extractor was given for a job: the file's signed URL and its key. Neither may come back to light.

``submit`` takes the URL from here; all steps ask here what to mask in an answer, which may repeat what it was given.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final

from fluxx.errors import Misconfigured, NotFound, SecretMissing
from fluxx.extraction.catalogue import Catalogue
from fluxx.model.job import File, Job
from fluxx.ports.blobs import Blobs
from fluxx.ports.secrets import Secrets
from fluxx.scrubbing import secrets_of_url

LARGEST_URL: Final = 16 * 1024
"""Bytes read of a stored upstream URL."""


class HandedOut:
    """``url_ttl`` (seconds, from the job's creation) is how long a signed URL lasts, if the deadline isn't later."""

    def __init__(self, *, catalogue: Catalogue, blobs: Blobs, secrets: Secrets, url_ttl: float) -> None:
        self._catalogue = catalogue
        self._blobs = blobs
        self._secrets = secrets
        self._url_ttl = timedelta(seconds=url_ttl)

    async def file_url(self, job: Job) -> str:
        """Return a signed URL that outlives the job, or the one received from upstream.

        It follows from the job alone, so that whoever reads a later answer knows it too.
        """
        file = await self._catalogue.file(job.file_id)
        if file.is_remote:
            return await self._received_url(file)
        expires_at = max(job.created_at + self._url_ttl, job.deadline_at)
        return await self._blobs.signed_url(file.blob_path, expires_at=expires_at)

    async def secrets_of(self, job: Job) -> Sequence[str]:
        """Return what to mask in an answer about ``job``; what is gone can't be known. Raises ``Unavailable``."""
        known: list[str] = []
        with suppress(SecretMissing):
            known.append((await self._secrets.api_key(job.client_application_extractor_id)).reveal())
        with suppress(NotFound, Misconfigured):
            known += secrets_of_url(await self.file_url(job))
        return known

    async def _received_url(self, file: File) -> str:
        async with self._blobs.open(file.blob_path, end=LARGEST_URL) as opened:
            return b"".join([chunk async for chunk in opened.chunks]).decode()
