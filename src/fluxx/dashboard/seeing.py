"""Jobs as a person knows them: with the names of their file, extractor and client application."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec

from fluxx.dashboard.context import DashboardContext, Visitor
from fluxx.model.job import ClientApplication, Extractor, Job


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """A job with names; an id stands for the name of what is gone."""

    job: Job
    file_name: str
    extractor_name: str
    client_name: str


class Registered(msgspec.Struct, frozen=True):
    """The client applications and extractors that a visitor sees, oldest first."""

    clients: Mapping[UUID, ClientApplication]
    extractors: Mapping[UUID, Extractor]

    def extractor_name(self, extractor_id: UUID) -> str:
        """Return a name, or the id where there is none."""
        found = self.extractors.get(extractor_id)
        return found.name if found else str(extractor_id)

    def client_name(self, client_application_id: UUID) -> str:
        """Return a name, or the id where there is none."""
        found = self.clients.get(client_application_id)
        return found.name if found else str(client_application_id)


class Seeing:
    """Looks names up."""

    def __init__(self, context: DashboardContext) -> None:
        self._registrations = context.registrations
        self._files = context.files

    async def registered(self, visitor: Visitor) -> Registered:
        """Return what is registered, as far as the visitor sees it."""
        clients = await self._registrations.client_applications()
        extractors = await self._registrations.extractors(visitor.client_application_id)
        return Registered(
            {each.client_application_id: each for each in clients if visitor.sees(each.client_application_id)},
            {each.client_application_extractor_id: each for each in extractors},
        )

    async def shown(self, jobs: Sequence[Job], registered: Registered) -> Sequence[Shown]:
        """Return the jobs with names."""
        files = await self._files.files(list({job.file_id for job in jobs})) if jobs else {}
        return [
            Shown(
                job=job,
                file_name=files[job.file_id].file_name if job.file_id in files else str(job.file_id),
                extractor_name=registered.extractor_name(job.client_application_extractor_id),
                client_name=registered.client_name(job.client_application_id),
            )
            for job in jobs
        ]
