"""The guard before every route: who calls (401), how often (429), with which right (403); else the route answers.

ASGI middleware. It decides before a byte of the body is read. Whoever shows a valid key has a bucket of their own, so
that nobody without one can use it up; all others share the bucket of their address.
"""

import math
from collections.abc import Sequence
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from fluxx.api.access.callers import SCOPE_KEY, Caller, Unidentified
from fluxx.api.access.credentials import Credentials
from fluxx.api.access.rates import Rates
from fluxx.api.access.roles import OPEN, Need, need_of, route_of
from fluxx.api.problems import RETRY_AFTER, problem
from fluxx.errors import Unavailable
from fluxx.telemetry import CALLER_REFUSED, Facts

IPV6_NETWORK: Final = 64
"""Bits: one customer has at least so many addresses, and gets one bucket."""


class Guard:
    """``routes`` are those of the application, looked up by the table of ``roles``."""

    def __init__(
        self, app: ASGIApp, *, credentials: Credentials, rates: Rates, routes: Sequence[BaseRoute], facts: Facts
    ) -> None:
        self._app = app
        self._credentials = credentials
        self._rates = rates
        self._routes = routes
        self._facts = facts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        refusal = await self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            self._facts.tell(
                CALLER_REFUSED,
                method=scope["method"],
                path=scope["path"],
                reason=HTTPStatus(refusal.status_code).phrase,
            )
            await refusal(scope, receive, send)

    async def _refusal(self, scope: Scope) -> Response | None:
        template = route_of(self._routes, scope)
        need = None if template is None else need_of(scope["method"], template)
        if need == OPEN:
            return self._too_many(_address(scope))
        try:
            caller = await self._credentials.caller(Headers(scope=scope))
        except Unidentified as unknown:
            return self._too_many(_address(scope)) or self._unidentified(unknown, Headers(scope=scope))
        except Unavailable:
            detail = "Tokens can't be checked now; try again later."
            return problem(HTTPStatus.SERVICE_UNAVAILABLE, detail, headers={"Retry-After": RETRY_AFTER})
        scope[SCOPE_KEY] = caller
        return self._too_many(f"caller {caller.name}") or _not_allowed(caller, template, need)

    def _too_many(self, who: str) -> Response | None:
        wait = self._rates.wait(who)
        if not wait:
            return None
        seconds = math.ceil(wait)
        detail = f"Too many requests (RATE_LIMIT_PER_SECOND); try again in {seconds} s."
        return problem(HTTPStatus.TOO_MANY_REQUESTS, detail, headers={"Retry-After": str(seconds)})

    def _unidentified(self, unknown: Unidentified, headers: Headers) -> Response:
        if not self._credentials.guarded:
            return problem(HTTPStatus.FORBIDDEN, str(unknown))
        error = ', error="invalid_token"' if "authorization" in headers or "x-api-key" in headers else ""
        challenge = f'Bearer realm="fluxx"{error}'
        return problem(HTTPStatus.UNAUTHORIZED, str(unknown), headers={"WWW-Authenticate": challenge})


def _not_allowed(caller: Caller, template: str | None, need: Need | None) -> Response | None:
    """Return the refusal, if it is one; where there is no route, the application says so itself."""
    if template is None or (need is not None and need.allows(caller)):
        return None
    words = "a role that nobody has" if need is None else str(need)
    bound = f", bound to client application {caller.client_application_id}" if caller.client_application_id else ""
    detail = f"This needs {words}; this caller has {caller.role!s}{bound}."
    headers = {"WWW-Authenticate": 'Bearer realm="fluxx", error="insufficient_scope"'}
    return problem(HTTPStatus.FORBIDDEN, detail, headers=headers)


def _address(scope: Scope) -> str:
    """Return the bucket of those who show no key: their address, or its network where one has many."""
    host = (scope.get("client") or ("unknown", 0))[0]
    try:
        address = ip_address(host)
    except ValueError:
        return f"address {host}"
    if isinstance(address, IPv6Address):
        return f"address {ip_network((int(address), IPV6_NETWORK), strict=False)}"
    return f"address {address}"
