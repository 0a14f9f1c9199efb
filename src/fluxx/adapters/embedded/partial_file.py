"""A file in the making: written under a name of its own, put in place in one step, or gone.

Synchronous; ``FolderBlobs`` runs it on its threads. A ``threading.Lock`` orders the calls, since a
cancelled caller's last write may still be under way when its abort comes.
"""

import hashlib
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from uuid_utils.compat import uuid7

from fluxx.ports.blobs import Stored

PLACING_ATTEMPTS: Final = 5
"""A delete that clears away the empty folder just made can get in between only so often."""


class PartialFile:
    """Takes bytes, counts and hashes them, and ends in ``place`` or ``abort``.

    Every call of the system has to come back for Python's lock, which a busy event loop gives up seldom:
    as few of them as can be.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / uuid7().hex
        try:
            self._file = self._path.open("xb", buffering=0)
        except FileNotFoundError:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("xb", buffering=0)
        self._sha256 = hashlib.sha256()
        self._size = 0
        self._lock = threading.Lock()

    def write(self, content: bytes) -> None:
        """Append ``content``; raises ``OSError``."""
        with self._lock:
            self._sha256.update(content)
            self._size += len(content)
            left = memoryview(content)
            while left:
                left = left[self._file.write(left) :]

    def place(self, target: Path, *, once: bool) -> Stored:
        """Bring the bytes to the disk, then the name: readers see the old file or all of this one.

        With ``once`` a file that is there already stays, and is what is returned.
        """
        with self._lock:
            os.fsync(self._file.fileno())
            self._file.close()
            if not self._named(target, self._linked if once else self._replaced):
                return _described(target)
            _sync_folder(target.parent)
            return Stored(self._size, self._sha256.hexdigest())

    def abort(self) -> None:
        """Leave nothing behind; harmless after ``place``."""
        with self._lock:
            with suppress(OSError):  # some file systems tell only now that the disk is full
                self._file.close()
            self._path.unlink(missing_ok=True)

    def _named(self, target: Path, name: Callable[[Path], bool]) -> bool:
        """Give the file its name; return whether it got it."""
        for _ in range(PLACING_ATTEMPTS - 1):
            target.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                return name(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        return name(target)

    def _replaced(self, target: Path) -> bool:
        self._path.replace(target)
        return True

    def _linked(self, target: Path) -> bool:
        """Take the name only where nothing has it: unlike a rename, a link never replaces."""
        try:
            os.link(self._path, target)
        except FileExistsError:
            taken = True
        else:
            taken = False
        self._path.unlink()
        return not taken


def _described(file: Path) -> Stored:
    with file.open("rb") as content:
        sha256 = hashlib.file_digest(content, "sha256").hexdigest()
        return Stored(content.tell(), sha256)


def _sync_folder(folder: Path) -> None:
    """Make the new name outlive a power cut, where folders can be synced (not on Windows)."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
