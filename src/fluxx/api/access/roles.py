"""Which role each route needs: the whole rule, as data, for the guard, OpenAPI and ``docs/security.md``.

A route that isn't in the table is refused to everybody, and a test finds it before that.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from starlette.routing import BaseRoute, Match
from starlette.types import Scope

from fluxx.api.access.callers import Caller, Role


class Need(msgspec.Struct, frozen=True):
    """The least role; with ``whole`` also that the caller isn't bound to one client application."""

    role: Role
    whole: bool = False

    def allows(self, caller: Caller) -> bool:
        """Whether the caller may use the route."""
        return caller.role >= self.role and not (self.whole and caller.client_application_id)

    def __str__(self) -> str:
        """Return it in words."""
        return f"the role {self.role!s}" + (" over all client applications" if self.whole else "")


OPEN: Final = Need(Role.NONE)
"""No key is asked for: nothing is told that isn't public, or the URL is signed."""

READ: Final = Need(Role.READ)
OPERATE: Final = Need(Role.OPERATE)
ADMIN: Final = Need(Role.ADMIN)

NEEDS: Final[Mapping[tuple[str, str], Need]] = {
    ("GET", "/healthz"): OPEN,
    ("GET", "/readyz"): READ,
    ("GET", "/metrics"): Need(Role.READ, whole=True),
    ("GET", "/openapi.json"): OPEN,
    ("GET", "/docs"): OPEN,
    ("GET", "/docs/start.js"): OPEN,
    ("GET", "/docs/assets"): OPEN,
    ("GET", "/registration/client-applications"): READ,
    ("POST", "/registration/client-applications"): Need(Role.ADMIN, whole=True),
    ("GET", "/registration/{clientAppId}/extractors"): READ,
    ("POST", "/registration/{clientAppId}/extractors"): ADMIN,
    ("GET", "/registration/{clientAppId}/extractors/{extractorId}"): READ,
    ("PATCH", "/registration/{clientAppId}/extractors/{extractorId}"): ADMIN,
    ("DELETE", "/registration/{clientAppId}/extractors/{extractorId}"): ADMIN,
    ("POST", "/files"): OPERATE,
    ("GET", "/files/{fileId}"): READ,
    ("GET", "/files/{fileId}/content"): OPEN,  # by signed URL
    ("GET", "/extractor/jobs"): READ,
    ("GET", "/extractor/jobs/events"): READ,
    ("GET", "/extractor/job/file/{fileId}"): READ,
    ("GET", "/extractor/job/{jobId}"): READ,
    ("GET", "/extractor/job/{jobId}/result"): READ,
    ("POST", "/extractor/job/{jobId}/cancel"): OPERATE,
    ("POST", "/extractor/job/{jobId}/retry"): OPERATE,
}


PAGE_NEEDS: Final[Mapping[tuple[str, str], Need]] = {
    ("GET", "/"): OPEN,
    ("GET", "/dashboard"): READ,
    ("GET", "/dashboard/static"): OPEN,
    ("GET", "/dashboard/sign-in"): OPEN,
    ("POST", "/dashboard/sign-in"): OPEN,
    ("POST", "/dashboard/sign-out"): OPEN,
    ("GET", "/dashboard/jobs"): READ,
    ("GET", "/dashboard/job/{jobId}"): READ,
    ("POST", "/dashboard/job/{jobId}/retry"): OPERATE,
    ("POST", "/dashboard/job/{jobId}/cancel"): OPERATE,
    ("GET", "/dashboard/file/{fileId}"): READ,
    ("POST", "/dashboard/bulk"): OPERATE,
    ("POST", "/dashboard/bulk/step"): OPERATE,
    ("GET", "/dashboard/upload"): OPERATE,
    ("POST", "/dashboard/upload"): OPERATE,
    ("POST", "/dashboard/upload/sample"): OPERATE,
    ("GET", "/dashboard/extractors"): READ,
    ("POST", "/dashboard/extractors/client"): Need(Role.ADMIN, whole=True),
    ("POST", "/dashboard/extractors/add"): ADMIN,
    ("POST", "/dashboard/extractors/{extractorId}/change"): ADMIN,
    ("POST", "/dashboard/extractors/{extractorId}/key"): ADMIN,
    ("GET", "/dashboard/{path:path}"): READ,  # a page that says that there is none
    ("POST", "/dashboard/{path:path}"): READ,
}
"""The pages, each with the rights of the routes above that do the same."""


def need_of(method: str, path: str) -> Need | None:
    """Return what a route needs, by its method and template; None where neither table knows it."""
    route = ("GET" if method == "HEAD" else method, path)
    return NEEDS.get(route) or PAGE_NEEDS.get(route)


def route_of(routes: Sequence[BaseRoute], scope: Scope) -> str | None:
    """Return the template of the route that will answer; None where there is none (404, 405)."""
    for route in routes:
        if route.matches(scope)[0] is Match.FULL:
            path: Any = getattr(route, "path", None)
            return str(path)
    return None
