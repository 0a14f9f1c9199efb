"""Signing in with an API key: a cookie that only this service's pages send, in place of a header.

``SessionCookie`` stands before the guard and turns the cookie into the header that the guard knows; for what
changes something only where a page of ours sends it. So the page has the rights of its key and no others.
"""

from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fluxx.dashboard.context import DashboardContext
from fluxx.dashboard.forms import check_origin, fields_of
from fluxx.dashboard.rendering import Renderer

COOKIE: Final = "fluxx-key"
SIGN_IN: Final = "/dashboard/sign-in"
HOME: Final = "/dashboard"
READING: Final = ("GET", "HEAD")


class SessionCookie:
    """ASGI middleware, outside the guard."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, with the key of its cookie; lead a page that needs one to the form."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        key = _key_in(headers)
        if key and _may_stand_for_header(scope["method"], headers):
            header = (b"authorization", b"Bearer " + key.encode("latin-1", "replace"))
            scope = {**scope, "headers": [*scope["headers"], header]}
        await self._app(scope, receive, _leading_to_sign_in(scope, send) if _is_page(scope) else send)


def _is_page(scope: Scope) -> bool:
    path: str = scope["path"]
    return scope["method"] in READING and path.startswith(HOME) and path != SIGN_IN


def _leading_to_sign_in(scope: Scope, send: Send) -> Send:
    is_replaced = False

    async def sending(message: Message) -> None:
        nonlocal is_replaced
        if message["type"] == "http.response.start" and message["status"] == HTTPStatus.UNAUTHORIZED:
            is_replaced = True
            headers = MutableHeaders(headers={"location": f"{SIGN_IN}?next={quote(_address(scope), safe='')}"})
            headers["content-length"] = "0"
            await send({"type": "http.response.start", "status": HTTPStatus.SEE_OTHER, "headers": headers.raw})
            await send({"type": "http.response.body", "body": b""})
        elif not is_replaced:
            await send(message)

    return sending


def _address(scope: Scope) -> str:
    query = scope["query_string"].decode("latin-1")
    return f"{scope['path']}?{query}" if query else str(scope["path"])


def _key_in(headers: Headers) -> str:
    if "authorization" in headers or "x-api-key" in headers:
        return ""
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


def _may_stand_for_header(method: str, headers: Headers) -> bool:
    if method in READING:
        return True
    try:
        check_origin(headers)
    except HTTPException:
        return False
    return "origin" in headers or "sec-fetch-site" in headers


class SignInPages:
    """``/dashboard/sign-in`` and ``/dashboard/sign-out``."""

    def __init__(self, context: DashboardContext, renderer: Renderer) -> None:
        self._context = context
        self._renderer = renderer

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route(SIGN_IN, self.show, methods=["GET"]),
            Route(SIGN_IN, self.sign_in, methods=["POST"]),
            Route("/dashboard/sign-out", self.sign_out, methods=["POST"]),
        ]

    async def show(self, request: Request) -> Response:
        """Show the form."""
        return self._renderer.page(
            request, "sign_in.html", following=_inside(request.query_params.get("next", "")), wrong=False
        )

    async def sign_in(self, request: Request) -> Response:
        """Keep the key in a cookie, where it is valid."""
        fields = await fields_of(request)
        key, following = fields.text("key"), _inside(fields.text("next"))
        if self._context.knows is not None and not (key and await self._context.knows(key)):
            return self._renderer.page(request, "sign_in.html", status=422, following=following, wrong=True)
        response = RedirectResponse(following, status_code=303)
        if self._context.knows is not None:
            is_secure = request.url.scheme == "https" or request.headers.get("x-forwarded-proto") == "https"
            response.set_cookie(COOKIE, key, httponly=True, samesite="lax", secure=is_secure)
        return response

    async def sign_out(self, request: Request) -> Response:
        """Forget the key."""
        check_origin(request.headers)
        response = RedirectResponse(SIGN_IN, status_code=303)
        response.delete_cookie(COOKIE, httponly=True, samesite="lax")
        return response


def _inside(address: str) -> str:
    """Return an address of our own pages; anything else leads to the overview."""
    is_ours = address == HOME or address.startswith((f"{HOME}/", f"{HOME}?"))
    return address if is_ours and "\\" not in address else HOME
