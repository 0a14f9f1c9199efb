"""Client applications, extractors and files: the small tables."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from fluxx.adapters.sql.connections import Connections
from fluxx.adapters.sql.rows import client_application_of, extractor_of, extractor_row, file_of, file_row
from fluxx.adapters.sql.tables import client_application, client_application_extractor, file, waiting_file
from fluxx.clock import Clock
from fluxx.errors import Conflict, NotFound
from fluxx.model.job import ClientApplication, Extractor, File

extractor = client_application_extractor


class SqlRegistrations:
    """Keeps the promises of ``ports.registrations.RegistrationStore``."""

    def __init__(self, connections: Connections, *, clock: Clock) -> None:
        self._connections = connections
        self._clock = clock

    async def active_extractors(self, client_application_id: UUID) -> Sequence[Extractor]:
        """See ``Registry.active_extractors``."""

        def work(connection: Connection) -> Sequence[Extractor]:
            owner = select(client_application.c.IsActive).where(
                client_application.c.ClientApplicationID == client_application_id
            )
            if not connection.scalar(owner):
                raise NotFound(f"There is no active client application {client_application_id}.")
            rows = connection.execute(_extractors(client_application_id).where(extractor.c.IsActive))
            return [extractor_of(row) for row in rows]

        return await self._connections.read(work)

    async def add_client_application(self, added: ClientApplication) -> None:
        """See ``RegistrationStore.add_client_application``."""
        row = {
            "ClientApplicationID": added.client_application_id,
            "Name": added.name,
            "IsActive": added.is_active,
            "CreatedAt": added.created_at,
            "UpdatedAt": added.created_at,
        }
        try:
            await self._connections.write(lambda connection: connection.execute(insert(client_application), row))
        except IntegrityError:
            raise Conflict(f"There is a client application {added.client_application_id} already.") from None

    async def client_applications(self) -> Sequence[ClientApplication]:
        """See ``RegistrationStore.client_applications``."""
        statement = select(client_application).order_by(
            client_application.c.CreatedAt, client_application.c.ClientApplicationID
        )
        rows = await self._connections.read(lambda connection: connection.execute(statement).all())
        return [client_application_of(row) for row in rows]

    async def add_extractor(self, added: Extractor) -> None:
        """See ``RegistrationStore.add_extractor``."""
        row = extractor_row(added) | {
            "ClientApplicationExtractorID": added.client_application_extractor_id,
            "ClientApplicationId": added.client_application_id,
            "CreatedAt": added.created_at,
            "UpdatedAt": added.created_at,
        }
        try:
            await self._connections.write(lambda connection: connection.execute(insert(extractor), row))
        except IntegrityError:
            raise NotFound(f"There is no client application {added.client_application_id}.") from None

    async def extractor(self, extractor_id: UUID) -> Extractor:
        """See ``RegistrationStore.extractor``."""
        statement = select(extractor).where(extractor.c.ClientApplicationExtractorID == extractor_id)
        row = await self._connections.read(lambda connection: connection.execute(statement).one_or_none())
        if row is None:
            raise NotFound(f"There is no extractor {extractor_id}.")
        return extractor_of(row)

    async def extractors(self, client_application_id: UUID | None = None) -> Sequence[Extractor]:
        """See ``RegistrationStore.extractors``."""
        statement = _extractors(client_application_id)
        rows = await self._connections.read(lambda connection: connection.execute(statement).all())
        return [extractor_of(row) for row in rows]

    async def change_extractor(self, before: Extractor, after: Extractor) -> None:
        """See ``RegistrationStore.change_extractor``."""
        extractor_id, old = before.client_application_extractor_id, extractor_row(before)
        different = {column: value for column, value in extractor_row(after).items() if value != old[column]}
        statement = (
            update(extractor)
            .where(extractor.c.ClientApplicationExtractorID == extractor_id)
            .values(**different, UpdatedAt=self._clock.now())
        )
        count = await self._connections.write(lambda connection: connection.execute(statement).rowcount)
        if count == 0:
            raise NotFound(f"There is no extractor {extractor_id}.")


class SqlFiles:
    """Keeps the promises of ``ports.registrations.FileStore``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def add_file(self, added: File) -> None:
        """See ``FileStore.add_file``."""
        row, waiting = file_row(added), {"FileID": added.file_id, "Since": added.created_at}

        def work(connection: Connection) -> None:
            connection.execute(insert(file), row)
            connection.execute(insert(waiting_file), waiting)

        try:
            await self._connections.write(work)
        except IntegrityError:
            raise NotFound(f"There is no client application {added.client_application_id}.") from None

    async def give_up(self, file_id: UUID) -> None:
        """See ``FileStore.give_up``."""
        statement = delete(waiting_file).where(waiting_file.c.FileID == file_id)
        await self._connections.write(lambda connection: connection.execute(statement))

    async def file(self, file_id: UUID) -> File:
        """See ``FileStore.file``."""
        found = await self.files([file_id])
        if file_id not in found:
            raise NotFound(f"There is no file {file_id}.")
        return found[file_id]

    async def files(self, file_ids: Sequence[UUID]) -> dict[UUID, File]:
        """See ``FileStore.files``."""
        statement = select(file).where(file.c.FileID.in_(file_ids))
        rows = await self._connections.read(lambda connection: connection.execute(statement).all())
        return {row.FileID: file_of(row) for row in rows}

    async def files_named(self, file_name: str, *, limit: int) -> Sequence[File]:
        """See ``FileStore.files_named``."""
        if "\0" in file_name:
            return []  # no name holds it, and PostgreSQL takes no text with it
        statement = (
            select(file)
            .where(file.c.FileName == file_name)  # IX_File_FileName_CreatedAt
            .order_by(file.c.CreatedAt.desc(), file.c.FileID.desc())
            .limit(limit)
        )
        rows = await self._connections.read(lambda connection: connection.execute(statement).all())
        return [file_of(row) for row in rows]


def _extractors(client_application_id: UUID | None) -> Any:
    # IX_ClientApplicationExtractor_ClientApplicationId
    statement = select(extractor).order_by(extractor.c.CreatedAt, extractor.c.ClientApplicationExtractorID)
    if client_application_id is None:
        return statement
    return statement.where(extractor.c.ClientApplicationId == client_application_id)
