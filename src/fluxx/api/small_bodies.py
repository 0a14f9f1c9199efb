"""Routes that take a small JSON body: anything else, and more, is refused before it is gathered in memory."""

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any, Final

from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message

LARGEST_BODY: Final = 64 * 1024
"""Bytes."""


class SmallBodyRoute(APIRoute):
    """A route that answers 413 to a body beyond ``LARGEST_BODY``, declared or not, and 415 to one that isn't JSON.

    Starlette's own limit isn't used: it answers in plain text.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, its body bounded."""
        handle = super().get_route_handler()

        async def bounded(request: Request) -> Response:
            if self.body_field is not None and not _is_json(request.headers.get("content-type", "")):
                words = "Content-Type must be application/json."
                raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, words)
            received = 0

            async def receive() -> Message:
                nonlocal received
                message = await request.receive()
                received += len(message.get("body", b""))
                if received > LARGEST_BODY:
                    raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
                return message

            return await handle(Request(request.scope, receive))

        return bounded


def _is_json(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))
