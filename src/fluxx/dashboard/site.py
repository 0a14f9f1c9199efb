"""All pages together, added to the HTTP application; and what a page says when something is wrong."""

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any, Final, TypeAlias

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from fluxx.dashboard.bulk import BulkPages
from fluxx.dashboard.context import DashboardContext
from fluxx.dashboard.extractors import ExtractorPages
from fluxx.dashboard.file import FilePages
from fluxx.dashboard.glance import Glance
from fluxx.dashboard.job import JobPages
from fluxx.dashboard.jobs import JobsPages
from fluxx.dashboard.overview import OverviewPages
from fluxx.dashboard.rendering import STATIC, Renderer
from fluxx.dashboard.session import SessionCookie, SignInPages
from fluxx.dashboard.upload import UploadPages
from fluxx.errors import BadInput, Conflict, FluxxError, NotFound, TooLarge, Unavailable
from fluxx.telemetry import REQUEST_UNAVAILABLE

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]

ELSEWHERE: Final = "/dashboard/{path:path}"

STATUS_OF: Final[Mapping[type[FluxxError], HTTPStatus]] = {
    BadInput: HTTPStatus.UNPROCESSABLE_ENTITY,
    NotFound: HTTPStatus.NOT_FOUND,
    Conflict: HTTPStatus.CONFLICT,
    TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
}


def add_dashboard(app: FastAPI, context: DashboardContext) -> None:
    """Serve the pages at ``/dashboard``, and lead there from ``/``."""
    for route in dashboard_routes(context):
        app.router.routes.append(route)
    app.add_middleware(SessionCookie)


def dashboard_routes(context: DashboardContext) -> list[Route | Mount]:
    """Return the routes of all pages and of the files that they load."""
    renderer, glance = Renderer(context), Glance(context.observer, context.clock)
    pages = (
        OverviewPages(context, renderer, glance),
        JobsPages(context, renderer),
        BulkPages(context, renderer),
        JobPages(context, renderer),
        FilePages(context, renderer),
        ExtractorPages(context, renderer, glance),
        UploadPages(context, renderer),
        SignInPages(context, renderer),
    )
    guard = _Explaining(context, renderer)
    routes: list[Route | Mount] = [guard.route(route) for page in pages for route in page.routes()]
    static = _Static(packages=[("fluxx.dashboard", "static")])
    elsewhere = guard.route(Route(ELSEWHERE, _missing, methods=["GET", "POST"]))
    return [*routes, Mount(STATIC, static, name="dashboard-static"), elsewhere]


async def _missing(_request: Request) -> Response:
    raise NotFound("There is no such page here.")


class _Static(StaticFiles):
    """The pages' own files: kept by the browser, asked for again each time (they change with a release)."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """Return the file with how long it may be kept."""
        response = super().file_response(*args, **kwargs)
        response.headers["cache-control"] = "no-cache"
        return response


class _Explaining:
    """Turns what goes wrong in a page into a page that says so."""

    def __init__(self, context: DashboardContext, renderer: Renderer) -> None:
        self._context = context
        self._renderer = renderer

    def route(self, route: Route) -> Route:
        """Return the route, explained."""
        endpoint: Endpoint = route.endpoint

        async def explained(request: Request) -> Response:
            try:
                return await endpoint(request)
            except FluxxError as error:
                return self._page(request, self._status(request, error), _told(error))
            except HTTPException as error:
                return self._page(request, HTTPStatus(error.status_code), str(error.detail))

        return Route(route.path, explained, methods=[*(route.methods or ["GET"])], name=route.name)

    def _status(self, request: Request, error: FluxxError) -> HTTPStatus:
        if isinstance(error, Unavailable):
            self._context.facts.tell(REQUEST_UNAVAILABLE, method=request.method, path=request.url.path, error=error)
        found = next((STATUS_OF[kind] for kind in type(error).__mro__ if kind in STATUS_OF), None)
        if found is None:
            raise error
        return found

    def _page(self, request: Request, status: HTTPStatus, words: str) -> Response:
        return self._renderer.page(request, "trouble.html", status=status, title=status.phrase, words=words)


def _told(error: FluxxError) -> str:
    if isinstance(error, Unavailable):
        return "A part of the service can't be reached now; try again in a moment."
    return str(error)
