"""How long a caller may keep us waiting for the body of its request: on every route, whoever reads it.

ASGI middleware, outside the routes: none of them has to think of it, and none can forget it.
"""

import asyncio
from http import HTTPStatus
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fluxx.api.problems import problem

SILENCE_SECONDS: Final = 60.0
"""Longest wait for the next piece of a body."""
LEAST_RATE: Final = 500
"""Bytes that win back a second of waiting, so that single bytes can't hold a connection for days.

It is what Apache's mod_reqtimeout asks for by default (``body=20,MinRate=500``).
"""


class Patience:
    """Gives up (408) a body that was waited for too long: ``seconds``, and a second more for each ``LEAST_RATE`` bytes.

    Never more than ``seconds`` are left. To the application it looks as if the caller had gone away; what it
    still says then is dropped, and the connection is closed.
    """

    def __init__(self, app: ASGIApp, *, seconds: float) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        body = _Body(receive, self._seconds)
        has_begun = False

        async def sending(message: Message) -> None:
            nonlocal has_begun
            if not body.is_given_up:
                has_begun = True
                await send(message)

        await self._app(scope, body.receive, sending)
        if body.is_given_up and not has_begun:
            words = "The body came too slowly; the request was given up."
            await problem(HTTPStatus.REQUEST_TIMEOUT, words, headers={"Connection": "close"})(scope, receive, send)


class _Body:
    """What comes of one request's body, and how long it may still be waited for."""

    def __init__(self, receive: Receive, seconds: float) -> None:
        self.is_given_up = False
        self._receive = receive
        self._most = self._left = seconds
        self._is_whole = False

    async def receive(self) -> Message:
        """Return the next message; once the body is whole, what follows (the caller's leaving) may take any time."""
        if self._is_whole:
            return await self._receive()
        began = _now()
        try:
            async with asyncio.timeout(self._left):
                message = await self._receive()
        except TimeoutError:
            self.is_given_up = True
            return {"type": "http.disconnect"}
        won = len(message.get("body", b"")) / LEAST_RATE
        self._left = min(self._left - (_now() - began) + won, self._most)
        self._is_whole = not message.get("more_body", False)
        return message


def _now() -> float:
    return asyncio.get_running_loop().time()
