"""The outermost layer: whatever escapes the routes is told as a fact and answered without internals."""

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fluxx.api.problems import unexpected
from fluxx.telemetry import REQUEST_FAILED, Facts


class LastResort:
    """ASGI middleware; once an answer has begun it can only cut it off, by letting the error through."""

    def __init__(self, app: ASGIApp, facts: Facts) -> None:
        self._app = app
        self._facts = facts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except ClientDisconnect:
            return  # nobody is left to answer
        except Exception as error:
            self._facts.tell(REQUEST_FAILED, method=scope["method"], path=scope["path"], error=error, trace=error)
            if begun:
                raise
            await unexpected()(scope, receive, send)
