"""API keys as files of a folder, named by ``ClientApplicationExtractorID``: FLUXX_HOME/secrets.

The folder may be a mounted Kubernetes secret (symbolic links into ``..data``); then it is only read.
"""

import asyncio
import errno
import os
from pathlib import Path
from typing import Final
from uuid import UUID, uuid4

from fluxx.adapters.key_rules import checked_key, secret_name, usable_key
from fluxx.errors import Misconfigured, SecretMissing, Unavailable
from fluxx.ports.secrets import ApiKey

_NOT_OURS: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


class FolderSecrets:
    """The ``Secrets`` port on the folder ``root`` (mode 0700, its files 0600)."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def api_key(self, extractor_id: UUID, *, fresh: bool = False) -> ApiKey:  # noqa: ARG002 - nothing is kept here
        """Return the extractor's key; see the port. One newline at the end of the file is not part of it."""
        name = secret_name(extractor_id)
        try:
            content = await asyncio.to_thread((self._root / name).read_bytes)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise SecretMissing(f"No API key is stored for extractor {name}.") from error
        except OSError as error:
            raise Unavailable(f"The key of extractor {name} can't be read: {error.strerror}.") from error
        return usable_key(name, content.decode(errors="replace"))

    async def set_api_key(self, extractor_id: UUID, key: ApiKey) -> None:
        """Store the key in one step; raises ``BadInput`` for a key that no header can carry."""
        name, value = secret_name(extractor_id), checked_key(key)
        try:
            await asyncio.to_thread(self._write, name, value)
        except OSError as error:
            raise Unavailable(f"The key of extractor {name} can't be stored: {error.strerror}.") from error

    async def delete_api_key(self, extractor_id: UUID) -> None:
        """Remove the key; one that isn't there is fine."""
        name = secret_name(extractor_id)
        try:
            await asyncio.to_thread((self._root / name).unlink, missing_ok=True)
        except OSError as error:
            raise Unavailable(f"The key of extractor {name} can't be removed: {error.strerror}.") from error

    async def check(self) -> None:
        """Raise ``Misconfigured`` where the folder can't be listed; it is made where it is missing."""
        try:
            await asyncio.to_thread(self._probe)
        except OSError as error:
            kind = Misconfigured if error.errno in _NOT_OURS else Unavailable
            raise kind(f"The secrets folder {self._root} can't be read: {error.strerror}.") from error

    async def close(self) -> None:
        """Nothing is held open."""

    def _write(self, name: str, value: str) -> None:
        self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
        partial = self._root / f".{name}.{uuid4().hex}"
        try:
            with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(value.encode())
                file.flush()
                os.fsync(file.fileno())
            partial.replace(self._root / name)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise

    def _probe(self) -> None:
        self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.scandir(self._root):
            pass
