"""The HTTP application: the APIs of the given roles, with health, metrics and documentation."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final, Literal

from fastapi.routing import APIRoute

from fluxx.api.access.guard import Guard
from fluxx.api.access.headers import SecurityHeaders
from fluxx.api.context import ApiContext
from fluxx.api.docs import add_docs
from fluxx.api.files import FileRoutes
from fluxx.api.health import HealthRoutes
from fluxx.api.jobs import JobRoutes
from fluxx.api.last_resort import LastResort
from fluxx.api.live import LiveRoutes
from fluxx.api.openapi import DescribedApi
from fluxx.api.patience import SILENCE_SECONDS, Patience
from fluxx.api.problems import answer_errors
from fluxx.api.registration import RegistrationRoutes

Role = Literal["registration", "files", "jobs"]

ROUTES: Final[dict[Role, Sequence[type[RegistrationRoutes | FileRoutes | JobRoutes | LiveRoutes]]]] = {
    "registration": [RegistrationRoutes],
    "files": [FileRoutes],
    "jobs": [JobRoutes, LiveRoutes],
}
ALL_ROLES: Final[frozenset[Role]] = frozenset(ROUTES)
VERSION: Final = "1"
"""Of the HTTP contract; it grows when a caller has to change."""


def create_app(
    context: ApiContext, *, roles: AbstractSet[str] = ALL_ROLES, patience: float = SILENCE_SECONDS
) -> DescribedApi:
    """Return the ASGI application that serves ``roles``: those of ``ROUTES``; others are none of its business.

    ``patience`` is how many seconds a body may be waited for.
    """
    app = DescribedApi(
        title="Fluxx Extraction",
        version=VERSION,
        description="Files go in, extractors work on them, results and every step on the way can be asked for.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    answer_errors(app, context.facts)
    # From the inside out: the guard stands before every route, and its refusals get the headers too.
    app.add_middleware(
        Guard, credentials=context.credentials, rates=context.rates, routes=app.router.routes, facts=context.facts
    )
    app.add_middleware(LastResort, facts=context.facts)
    app.add_middleware(Patience, seconds=patience)
    app.add_middleware(SecurityHeaders)
    for role, routes in ROUTES.items():
        if role in roles:
            for each in routes:
                app.router.routes.extend(each(context).router().routes)
    app.router.routes.extend(HealthRoutes(context).router().routes)
    add_docs(app)
    _take_head(app)
    return app


def _take_head(app: DescribedApi) -> None:
    """Let HEAD ask wherever GET does (RFC 9110, section 9.1); the server sends no body then."""
    for route in [each for each in app.routes if isinstance(each, APIRoute) and each.methods == {"GET"}]:
        app.add_api_route(route.path, route.endpoint, methods=["HEAD"], include_in_schema=False)
