"""What the database promises about client applications, extractors and files, and the registry's port."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from fluxx.model.job import ActiveExtractor, ClientApplication, Extractor, File


class Registry(Protocol):
    """Who extracts what: the database in the same process, or the Registration API over HTTP."""

    async def active_extractors(self, client_application_id: UUID) -> Sequence[ActiveExtractor]:
        """Return the active extractors of a client application, oldest first (story 2).

        Raises ``NotFound`` where there is no such active client application, ``Unavailable`` where
        the registry can't be asked.
        """
        ...


class RegistrationStore(Registry, Protocol):
    """The tables of the ``registration`` schema."""

    async def add_client_application(self, client_application: ClientApplication) -> None:
        """Insert a client application; raises ``Conflict`` where its id exists."""
        ...

    async def client_applications(self) -> Sequence[ClientApplication]:
        """Return all client applications, oldest first."""
        ...

    async def add_extractor(self, extractor: Extractor) -> None:
        """Insert an extractor; raises ``NotFound`` where its client application doesn't exist."""
        ...

    async def extractor(self, extractor_id: UUID) -> Extractor:
        """Return one extractor, active or not; raises ``NotFound``."""
        ...

    async def extractors(self, client_application_id: UUID | None = None) -> Sequence[Extractor]:
        """Return extractors, active or not, oldest first; all, or those of one client application."""
        ...

    async def change_extractor(self, before: Extractor, after: Extractor) -> None:
        """Write in which of name, URLs and ``is_active`` the two differ, and nothing else; raises ``NotFound``.

        So what somebody else changed meanwhile stays.
        """
        ...


class FileStore(Protocol):
    """The table ``[file].[File]``."""

    async def add_file(self, file: File) -> None:
        """Insert an uploaded file, which waits from then on for ``JobStore.accept``, even if that brings no job.

        Raises ``NotFound`` where its client application doesn't exist.
        """
        ...

    async def give_up(self, file_id: UUID) -> None:
        """Let a file wait no longer, as who uploaded it knows that it wasn't announced; jobs may come all the same."""
        ...

    async def file(self, file_id: UUID) -> File:
        """Return one file; raises ``NotFound``."""
        ...

    async def files(self, file_ids: Sequence[UUID]) -> dict[UUID, File]:
        """Return those of the files that exist."""
        ...

    async def files_named(self, file_name: str, *, limit: int) -> Sequence[File]:
        """Return up to ``limit`` files of exactly this name, the newest first."""
        ...
