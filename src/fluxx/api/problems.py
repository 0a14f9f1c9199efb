"""Errors as RFC 9457 problem details: every answer that isn't a success looks like this.

``STATUS_OF`` is the whole rule of which error becomes which status. Internals never show: what went
wrong inside is told as a fact, the caller reads that it was our fault.
"""

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any, Final, cast

import msgspec
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route

from fluxx.api.schemas import Complaint, Problem
from fluxx.errors import BadInput, Conflict, EgressRefused, FluxxError, NotFound, TooLarge, Unavailable
from fluxx.telemetry import REQUEST_FAILED, REQUEST_UNAVAILABLE, Facts

MEDIA_TYPE: Final = "application/problem+json"
STATUS_OF: Final[Mapping[type[FluxxError], HTTPStatus]] = {
    BadInput: HTTPStatus.UNPROCESSABLE_ENTITY,  # 400 where it is malformed
    NotFound: HTTPStatus.NOT_FOUND,
    Conflict: HTTPStatus.CONFLICT,
    TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    EgressRefused: HTTPStatus.UNPROCESSABLE_ENTITY,
    Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
}
RETRY_AFTER: Final = "5"
"""Seconds that a caller is asked to wait after a 503."""

_encoder: Final = msgspec.json.Encoder()
_MALFORMED_PLACES: Final = frozenset({"path", "query", "header"})


def problem(status: int, detail: str, *, headers: Mapping[str, str] | None = None, **members: Any) -> Response:
    """Return a problem; ``members`` are further fields of ``Problem``."""
    body = Problem(title=HTTPStatus(status).phrase, status=int(status), detail=_printable(detail), **members)
    return Response(_encoder.encode(body), status, dict(headers or {}), MEDIA_TYPE)


def unexpected() -> Response:
    """Return the problem that says nothing but that it is our fault."""
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong in here; it has been recorded.")


def answer_errors(app: FastAPI, facts: Facts) -> None:
    """Make ``app`` answer every error that its routes raise with a problem."""

    async def on_fluxx_error(request: Request, error: Exception) -> Response:
        return _of_fluxx_error(request, cast("FluxxError", error), facts)

    handlers: dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
        FluxxError: on_fluxx_error,
        HTTPException: _on_http_exception,
        RequestValidationError: _on_invalid_request,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


def _of_fluxx_error(request: Request, error: FluxxError, facts: Facts) -> Response:
    status = next((STATUS_OF[kind] for kind in type(error).__mro__ if kind in STATUS_OF), None)
    match error:
        case BadInput():
            status = HTTPStatus.BAD_REQUEST if error.malformed else status
            return problem(cast("HTTPStatus", status), str(error), field=error.field)
        case Unavailable():
            facts.tell(REQUEST_UNAVAILABLE, method=request.method, path=request.url.path, error=error)
            detail = "A part of the service can't be reached now; try again later."
            return problem(cast("HTTPStatus", status), detail, headers={"Retry-After": RETRY_AFTER})
    if status is None:
        facts.tell(REQUEST_FAILED, method=request.method, path=request.url.path, error=error, trace=error)
        return unexpected()
    return problem(status, str(error))


async def _on_http_exception(request: Request, error: Exception) -> Response:
    raised = cast("HTTPException", error)
    status = HTTPStatus(raised.status_code)
    detail = raised.detail
    if detail == status.phrase:
        detail = _PLAIN_WORDS.get(status, detail).format(method=request.method, path=request.url.path)
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        return problem(status, detail, headers={"Allow": _allowed(request)})
    # FastAPI raises a 400 where it can't even decode a body (bytes that are no UTF-8, endless nesting).
    members = {"field": "body"} if status is HTTPStatus.BAD_REQUEST else {}
    return problem(status, detail, headers=raised.headers, **members)


def _allowed(request: Request) -> str:
    """Return every method of the path: Starlette's own answer knows the first route's only (RFC 9110, 10.2.1)."""
    methods: set[str] = set()
    for route in request.app.routes:
        if isinstance(route, Route) and route.matches(dict(request.scope))[0] is not Match.NONE:
            methods |= route.methods or set()
    return ", ".join(sorted(methods))


_PLAIN_WORDS: Final[Mapping[HTTPStatus, str]] = {
    HTTPStatus.NOT_FOUND: "There is nothing at {path}.",
    HTTPStatus.METHOD_NOT_ALLOWED: "{path} doesn't take {method}.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The request's body is too large.",
}


async def _on_invalid_request(_request: Request, error: Exception) -> Response:
    """Name what is wrong, never what was given: a body may hold an API key."""
    found = cast("RequestValidationError", error).errors()
    complaints = [Complaint(_field(one["loc"]), _printable(one["msg"])) for one in found]
    malformed = any(one["loc"][0] in _MALFORMED_PLACES or one["type"] == "json_invalid" for one in found)
    status = HTTPStatus.BAD_REQUEST if malformed else HTTPStatus.UNPROCESSABLE_ENTITY
    first = complaints[0]
    return problem(status, f"{first.field}: {first.message}", field=first.field, errors=complaints)


def _field(place: tuple[str | int, ...]) -> str:
    names = [str(part) for part in place[1:] if isinstance(part, str)]
    return _printable(".".join(names) or str(place[0]))


def _printable(text: str) -> str:
    """Return text that JSON can carry: a lone surrogate in a request must not break the answer to it."""
    return text.encode(errors="replace").decode()
