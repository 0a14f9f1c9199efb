"""Blobs as files of a folder; the wiring takes it where no storage account is configured.

All disk work runs on the store's own few threads: one hop for a small blob, one for each batch of a
stream. Content types aren't kept: the files API knows them from the database.
"""

import asyncio
import errno
import os
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final, Protocol, TypeVar

from fluxx.adapters.batches import batches
from fluxx.adapters.blob_paths import checked_path
from fluxx.adapters.embedded.partial_file import PartialFile
from fluxx.errors import Misconfigured, NotFound, Unavailable
from fluxx.ports.blobs import Opened, Stored

BATCH: Final = 2**20
"""Bytes gathered from a stream before they are worth a hop to a thread."""
READ_CHUNK: Final = 2**19
"""Bytes read at a time."""
THREADS: Final = 8
PARTIAL_LIFE: Final = 3600.0
"""Seconds without a write after which a partial file belongs to nobody: its process was killed."""
PARTIAL_FOLDER: Final = ".partial"
_NOT_OURS: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_Result = TypeVar("_Result")


class Signer(Protocol):
    """Makes the signed URL under which the files API serves a blob."""

    def sign(self, path: str, expires_at: datetime) -> str:
        """Return the URL; raises ``BadInput`` for a blob that the files API doesn't serve."""
        ...


class FolderBlobs:
    """The ``Blobs`` port on the folder ``root``."""

    def __init__(self, root: Path, signer: Signer) -> None:
        self._root = root
        self._signer = signer
        self._partials = root / PARTIAL_FOLDER
        self._swept = False
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="blobs")

    async def write(
        self,
        path: str,
        content: bytes | AsyncIterable[bytes],
        *,
        content_type: str,  # noqa: ARG002 - see above
        once: bool = False,
    ) -> Stored:
        """Store ``content`` under ``path``; see the port. Raises ``Unavailable`` where the disk won't take it."""
        target = self._root / checked_path(path)
        if isinstance(content, bytes):
            return await self._hop(path, self._write_whole, target, content, once)
        return await self._write_stream(path, target, content, once=once)

    @asynccontextmanager
    async def open(self, path: str, *, start: int = 0, end: int | None = None) -> AsyncIterator[Opened]:
        """Open a blob for reading; see the port. A range beyond its end is empty."""
        file, size = await self._hop(path, _opened, path, self._root / checked_path(path))
        with file:
            yield Opened(size, self._chunks(path, file, start=start, end=size if end is None else min(end, size)))

    async def delete(self, path: str) -> None:
        """Remove a blob and the folders it leaves empty."""
        await self._hop(path, self._remove, self._root / checked_path(path))

    async def signed_url(self, path: str, *, expires_at: datetime) -> str:
        """Return the files API's signed URL of the blob; raises ``BadInput`` for other blobs than files."""
        return self._signer.sign(checked_path(path), expires_at)

    async def check(self) -> None:
        """Raise ``Misconfigured`` where the folder isn't ours to use, ``Unavailable`` where the disk fails."""
        try:
            await asyncio.get_running_loop().run_in_executor(self._threads, self._probe)
        except OSError as error:
            raise _trouble(f"The blob folder {self._root}", error, not_ours=Misconfigured) from error

    async def close(self) -> None:
        """End the threads once they are done."""
        await asyncio.to_thread(self._threads.shutdown)

    async def _hop(self, path: str, work: Callable[..., _Result], *arguments: object) -> _Result:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)
        except OSError as error:
            raise _trouble(f"Blob {path}", error, not_ours=Unavailable) from error

    def _write_whole(self, target: Path, content: bytes, once: bool) -> Stored:  # noqa: FBT001 - handed over a hop
        partial = self._new_partial()
        try:
            partial.write(content)
            return partial.place(target, once=once)
        except BaseException:
            partial.abort()
            raise

    async def _write_stream(self, path: str, target: Path, content: AsyncIterable[bytes], *, once: bool) -> Stored:
        pieces = batches(content, BATCH)
        first = await anext(pieces, b"")
        if len(first) < BATCH:
            return await self._hop(path, self._write_whole, target, first, once)
        partial = await self._hop(path, self._new_partial)
        try:
            await self._hop(path, partial.write, first)
            async for piece in pieces:
                await self._hop(path, partial.write, piece)
            return await self._hop(path, lambda: partial.place(target, once=once))
        except BaseException:
            # Not awaited: the caller may be cancelled, and the thread does it anyway.
            self._threads.submit(partial.abort)
            raise

    async def _chunks(self, path: str, file: BinaryIO, *, start: int, end: int) -> AsyncIterator[bytes]:
        while start < end and (chunk := await self._hop(path, _read_at, file, start, min(READ_CHUNK, end - start))):
            start += len(chunk)
            yield chunk

    def _remove(self, target: Path) -> None:
        with suppress(NotADirectoryError, IsADirectoryError):
            target.unlink(missing_ok=True)
        for folder in target.relative_to(self._root).parents[:-1]:
            try:
                (self._root / folder).rmdir()
            except OSError:
                return  # not empty, or gone already

    def _probe(self) -> None:
        self._new_partial().abort()
        with os.scandir(self._root):
            pass

    def _new_partial(self) -> PartialFile:
        partial = PartialFile(self._partials)
        if not self._swept:
            self._swept = True
            self._sweep()
        return partial

    def _sweep(self) -> None:
        """Remove what killed writers left long ago; a young one may belong to another process."""
        killed_before = time.time() - PARTIAL_LIFE
        for left in self._partials.iterdir():
            with suppress(FileNotFoundError):
                if left.stat().st_mtime < killed_before:
                    left.unlink()


def _opened(path: str, target: Path) -> tuple[BinaryIO, int]:
    try:
        file = target.open("rb")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise NotFound(f"There is no blob {path}.") from error
    return file, os.fstat(file.fileno()).st_size


def _read_at(file: BinaryIO, start: int, size: int) -> bytes:
    file.seek(start)
    return file.read(size)


def _trouble(what: str, error: OSError, *, not_ours: type[Exception]) -> Exception:
    kind = not_ours if error.errno in _NOT_OURS else Unavailable
    return kind(f"{what} can't be read or written: {error.strerror or type(error).__name__}.")
