"""The Registration API: client applications and their extractors (stories 2 and 3)."""

from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Path
from starlette.responses import Response

from fluxx.api.access.callers import CallerOf
from fluxx.api.context import ApiContext
from fluxx.api.openapi import also, answer, new_router, problems, returns
from fluxx.api.requests import ChangedExtractor, NewClientApplication, NewExtractor
from fluxx.api.schemas import ActiveExtractorDetails, ClientApplicationDetails, ExtractorDetails
from fluxx.api.small_bodies import SmallBodyRoute
from fluxx.errors import NotFound

_LOCATION = {"Location": {"description": "Path of what was made.", "schema": {"type": "string"}}}


async def _client_application_id(
    text: Annotated[str, Path(alias="clientAppId", description="Its id.", json_schema_extra={"format": "uuid"})],
    caller: CallerOf,
) -> UUID:
    """Return the id; one that can't be a client application's is an unknown one: 404 (story 2).

    So is one that the caller doesn't see.
    """
    try:
        found = UUID(text)
    except ValueError:
        raise NotFound(f"There is no client application {text[:80]!r}: clientAppId is not a UUID.") from None
    caller.check(found, f"There is no active client application {found}.")
    return found


ClientApplicationId = Annotated[UUID, Depends(_client_application_id)]
ExtractorId = Annotated[UUID, Path(alias="extractorId", description="Its id.")]


class RegistrationRoutes:
    """The routes under ``/registration``."""

    def __init__(self, context: ApiContext) -> None:
        self._registrations = context.registrations
        self._registering = context.registering

    def router(self) -> APIRouter:
        """Return the routes."""
        router = new_router("registration", prefix="/registration", route_class=SmallBodyRoute)
        self._add_client_applications(router)
        self._add_extractors(router)
        return router

    def _add_client_applications(self, router: APIRouter) -> None:
        path = "/client-applications"
        router.add_api_route(
            path,
            self.list_client_applications,
            methods=["GET"],
            responses=returns(200, "All, oldest first.", ClientApplicationDetails, many=True) | problems(503),
        )
        router.add_api_route(
            path,
            self.register_client_application,
            methods=["POST"],
            status_code=HTTPStatus.CREATED,
            responses=returns(201, "Registered.", ClientApplicationDetails, headers=_LOCATION)
            | problems(400, 408, 413, 415, 422, 503),
        )

    def _add_extractors(self, router: APIRouter) -> None:
        path = "/{clientAppId}/extractors"
        router.add_api_route(
            path,
            self.list_active_extractors,
            methods=["GET"],
            responses=returns(200, "The active ones, oldest first.", ActiveExtractorDetails, many=True)
            | problems(404, 503),
        )
        router.add_api_route(
            path,
            self.register_extractor,
            methods=["POST"],
            status_code=HTTPStatus.CREATED,
            responses=returns(201, "Registered.", ExtractorDetails, headers=_LOCATION)
            | problems(400, 404, 408, 413, 415, 422, 503),
        )
        router.add_api_route(
            path + "/{extractorId}",
            self.get_extractor,
            methods=["GET"],
            responses=returns(200, "The extractor, active or not.", ExtractorDetails) | problems(400, 404, 503),
        )
        router.add_api_route(
            path + "/{extractorId}",
            self.change_extractor,
            methods=["PATCH"],
            status_code=HTTPStatus.NO_CONTENT,
            responses=also(204, "Changed.") | problems(400, 404, 408, 413, 415, 422, 503),
        )
        router.add_api_route(
            path + "/{extractorId}",
            self.deactivate_extractor,
            methods=["DELETE"],
            status_code=HTTPStatus.NO_CONTENT,
            responses=also(204, "Inactive now, or already.") | problems(400, 404, 503),
        )

    async def list_client_applications(self, caller: CallerOf) -> Response:
        """List the client applications that the caller sees."""
        found = await self._registrations.client_applications()
        return answer([ClientApplicationDetails.of(one) for one in found if caller.sees(one.client_application_id)])

    async def register_client_application(self, new: NewClientApplication) -> Response:
        """Register a client application."""
        made = await self._registering.register_client_application(new.name)
        location = f"/registration/{made.client_application_id}/extractors"
        return answer(ClientApplicationDetails.of(made), 201, headers={"Location": location})

    async def list_active_extractors(self, client_application_id: ClientApplicationId) -> Response:
        """List the active extractors of a client application."""
        found = await self._registrations.active_extractors(client_application_id)
        return answer([ActiveExtractorDetails.of(one) for one in found])

    async def register_extractor(self, client_application_id: ClientApplicationId, new: NewExtractor) -> Response:
        """Register an extractor; its API key goes to the vault."""
        made = await self._registering.register_extractor(
            client_application_id,
            name=new.name,
            extraction_url=new.extraction_url,
            polling_url=new.polling_url,
            api_key=new.key,
        )
        location = f"/registration/{client_application_id}/extractors/{made.client_application_extractor_id}"
        return answer(ExtractorDetails.of(made), 201, headers={"Location": location})

    async def get_extractor(self, client_application_id: ClientApplicationId, extractor_id: ExtractorId) -> Response:
        """Return one extractor, active or not."""
        found = await self._registering.extractor(client_application_id, extractor_id)
        return answer(ExtractorDetails.of(found))

    async def change_extractor(
        self, client_application_id: ClientApplicationId, extractor_id: ExtractorId, changes: ChangedExtractor
    ) -> Response:
        """Change an extractor, or its API key."""
        await self._registering.change_extractor(client_application_id, extractor_id, changes.change)
        return Response(status_code=HTTPStatus.NO_CONTENT)

    async def deactivate_extractor(
        self, client_application_id: ClientApplicationId, extractor_id: ExtractorId
    ) -> Response:
        """Deactivate an extractor: it gets no more jobs. Those under way go on."""
        await self._registering.deactivate_extractor(client_application_id, extractor_id)
        return Response(status_code=HTTPStatus.NO_CONTENT)
