"""The contract over HTTP: submissions, polls and results of one or several extractors on one port.

Made by ``run.py``. Every error is an RFC 9457 problem. The key, where there is one, guards
submissions and polls; a result's URL holds a token that nobody can guess and needs no key.
"""

import hmac
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from fluxx.errors import NotFound, Unavailable
from fluxx.extractors.contract import Backend, Elsewhere, Failure, Inline, NotReadyYet, State, Submission

MAX_BODY_BYTES: Final = 64 * 1024
BUSY_RETRY_AFTER: Final = "5"
"""Seconds that a client is asked to wait when the extractor can't take or answer it now."""


def application(backends: Mapping[str, Backend], *, api_key: str | None) -> web.Application:
    """Return the application that serves each backend under its kind: ``/{kind}/jobs``."""
    app = web.Application(middlewares=[_problems, _guard(api_key)], client_max_size=MAX_BODY_BYTES)
    for kind, backend in backends.items():
        routes = _Routes(kind, backend)
        app.router.add_post(f"/{kind}/jobs", routes.submit)
        app.router.add_get(f"/{kind}/jobs/{{job_id}}", routes.poll)
        app.router.add_get(f"/{kind}/results/{{token}}", routes.result)
    app.router.add_get("/healthz", _healthy)
    return app


class _Routes:
    """The three routes of one extractor."""

    def __init__(self, kind: str, backend: Backend) -> None:
        self._kind = kind
        self._backend = backend

    async def submit(self, request: web.Request) -> web.StreamResponse:
        """Take a job: 201, or 409 where the id is known."""
        try:
            submission = msgspec.json.decode(await request.read(), type=Submission)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return _problem(HTTPStatus.BAD_REQUEST, f"The body is not a submission: {error}")
        if not await self._backend.submit(submission):
            return _problem(HTTPStatus.CONFLICT, f"Job {submission.job_id} is known already.")
        location = f"/{self._kind}/jobs/{submission.job_id}"
        body = msgspec.json.encode({"jobId": submission.job_id})
        return _json(body, status=HTTPStatus.CREATED, headers={"Location": location})

    async def poll(self, request: web.Request) -> web.StreamResponse:
        """Tell how far a job is."""
        state = await self._backend.look(request.match_info["job_id"])
        headers = {}
        if isinstance(state, NotReadyYet) and state.retry_after is not None:
            headers["Retry-After"] = str(state.retry_after)
        return _json(self._answer(state), headers=headers)

    async def result(self, request: web.Request) -> web.StreamResponse:
        """Stream a large result."""
        async with self._backend.result(request.match_info["token"]) as streamed:
            response = web.StreamResponse(headers={"Content-Type": "application/json"})
            response.content_length = streamed.size
            await response.prepare(request)
            async for chunk in streamed.chunks:
                await response.write(chunk)
            await response.write_eof()
        return response

    def _answer(self, state: State) -> bytes:
        match state:
            case NotReadyYet():
                return b'{"isReady":false}'
            case Inline(content):
                return b'{"isReady":true,"result":' + content + b"}"
            case Elsewhere(token):
                return msgspec.json.encode({"isReady": True, "resultUrl": f"/{self._kind}/results/{token}"})
            case Failure():
                return msgspec.json.encode({"isReady": True, "error": state})


@web.middleware
async def _problems(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except NotFound as error:
        return _problem(HTTPStatus.NOT_FOUND, str(error))
    except Unavailable as error:
        return _problem(HTTPStatus.SERVICE_UNAVAILABLE, str(error), headers={"Retry-After": BUSY_RETRY_AFTER})
    except web.HTTPException as error:
        allow = {"Allow": error.headers["Allow"]} if "Allow" in error.headers else {}
        return _problem(HTTPStatus(error.status), error.text or error.reason, headers=allow)


def _guard(api_key: str | None) -> Middleware:
    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if api_key is not None and "/jobs" in request.path and not _knows(request, api_key):
            detail = "Send the extractor's key as Authorization: Bearer <key>."
            return _problem(HTTPStatus.UNAUTHORIZED, detail, headers={"WWW-Authenticate": "Bearer"})
        return await handler(request)

    return guard


def _knows(request: web.Request, api_key: str) -> bool:
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    # Compared as bytes in constant time: str comparison would tell by its duration how much was right.
    return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), api_key.encode())


async def _healthy(_request: web.Request) -> web.StreamResponse:
    return _json(b'{"status":"ok"}')


def _json(body: bytes, *, status: int = HTTPStatus.OK, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(body=body, status=status, headers=headers, content_type="application/json")


def _problem(status: HTTPStatus, detail: str, *, headers: Mapping[str, str] | None = None) -> web.Response:
    body = msgspec.json.encode({"type": "about:blank", "title": status.phrase, "status": status, "detail": detail})
    return web.Response(body=body, status=status, headers=headers, content_type="application/problem+json")
