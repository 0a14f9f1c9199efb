"""What every answer tells a browser: run nothing foreign, guess no types, sit in no frame, keep nothing."""

from collections.abc import Mapping
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_POLICY: Final = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
INERT: Final = "default-src 'none'; frame-ancestors 'none'; sandbox"
"""The policy for bytes that others gave us: a file, a result. Shown by a browser, they can do nothing."""

ON_EVERY_ANSWER: Final[Mapping[str, str]] = {
    "content-security-policy": CONTENT_POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}


class SecurityHeaders:
    """ASGI middleware: adds ``ON_EVERY_ANSWER``, except what the answer says itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""

        async def adding(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in ON_EVERY_ANSWER.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, adding)
