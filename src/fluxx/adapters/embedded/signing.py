"""Signed URLs of the files API, for blobs that no storage account serves.

``FolderBlobs`` signs, ``GET /files/{fileId}/content`` verifies; both hold the same ``UrlSigner``.
"""

import hmac
import math
import os
import re
import secrets
from datetime import datetime
from pathlib import Path
from typing import Final
from uuid import UUID, uuid4

from fluxx.errors import BadInput, Misconfigured

KEY_BYTES: Final = 32
_FILE_PATH: Final = re.compile(r"files/[^/]+/([0-9a-fA-F-]{36})/content")


class UrlSigner:
    """Signs and verifies. ``base_url`` may be set later, once the port listened on is known."""

    def __init__(self, key: bytes, base_url: str = "") -> None:
        self.base_url = base_url
        self._key = key

    def sign(self, path: str, expires_at: datetime) -> str:
        """Return the URL that reads the file at ``files/{clientApplicationId}/{fileId}/content``.

        Raises ``BadInput`` for any other path: only files are handed out.
        """
        match = _FILE_PATH.fullmatch(path)
        if match is None:
            raise BadInput(f"{path} is not the content of a file.", field="path")
        file_id = UUID(match[1])
        expires = math.ceil(expires_at.timestamp())
        query = f"expires={expires}&signature={self._signature(file_id, expires)}"
        return f"{self.base_url.rstrip('/')}/files/{file_id}/content?{query}"

    def verify(self, file_id: UUID, expires: int, signature: str, now: datetime) -> bool:
        """Whether ``signature`` was made for this file and ``expires`` (Unix seconds) is still to come."""
        expected = self._signature(file_id, expires)
        return hmac.compare_digest(expected.encode(), signature.encode()) and now.timestamp() < expires

    def _signature(self, file_id: UUID, expires: int) -> str:
        return hmac.digest(self._key, f"{file_id}\n{expires}".encode(), "sha256").hex()


def load_or_make_key(path: Path) -> bytes:
    """Return the signing key kept at ``path`` (mode 0600), made at the first call.

    Processes that call this at the same moment get the same key. Raises ``Misconfigured``.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            _make_key(path)
        key = path.read_bytes()
    except OSError as error:
        raise Misconfigured(f"FLUXX_HOME: the signing key {path} can't be kept: {error.strerror}.") from error
    if len(key) != KEY_BYTES:
        raise Misconfigured(f"FLUXX_HOME: the signing key {path} is broken; delete it and a new one is made.")
    return key


def _make_key(path: Path) -> None:
    """Write a new key under a name of its own and link it: the first of several processes wins."""
    partial = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        os.link(partial, path)
    except FileExistsError:
        pass  # another process was quicker; its key counts
    finally:
        partial.unlink(missing_ok=True)
