"""One HTTP connection: uvicorn's, with the bounds it leaves out and problems where it sends plain text.

A head (request line and headers) may only be so long and take so long; else a client that never
finishes one would hold memory and a socket for ever.
"""

import asyncio
from http import HTTPStatus
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from fluxx.api.access.headers import ON_EVERY_ANSWER
from fluxx.api.problems import problem

LARGEST_HEAD: Final = 64 * 1024
"""Bytes of request line and headers."""
HEAD_SECONDS: Final = 15.0
"""From the first byte (or the opening of the connection) to the end of the headers.

Also from an early answer (a refusal) to the end of the body that nobody reads any more.
"""


class Connection(HttpToolsProtocol):
    """Made by uvicorn for each connection."""

    head_seconds = HEAD_SECONDS

    _head_bytes = 0
    _in_head = True
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn types it
        """Begin with a head, which must come in time."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the timer."""
        self._head_done()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count the bytes of a head that isn't complete."""
        if self._in_head:
            self._head_bytes += len(data)
        super().data_received(data)
        if not self._in_head or self.transport.is_closing():
            return
        if self._head_bytes > LARGEST_HEAD:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "The request's head is too large.")
        elif self._head_bytes and self._head_timer is None:
            self._await_head()

    def on_headers_complete(self) -> None:
        """End the head."""
        self._in_head = False
        self._head_bytes = 0
        self._head_done()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Expect the next head."""
        self._in_head = True
        self._head_done()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Give a body that was answered before its end a little time to end."""
        super().on_response_complete()
        if self.cycle.response_complete and not self._in_head and not self.transport.is_closing():
            self._await_head()

    def send_400_response(self, msg: str) -> None:
        """Answer what isn't HTTP."""
        self._refuse(HTTPStatus.BAD_REQUEST, msg)

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(self.head_seconds, self.timeout_keep_alive_handler)

    def _head_done(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _refuse(self, status: int, detail: str) -> None:
        answer: Any = problem(status, detail, headers={"connection": "close"})
        answer.headers.update(ON_EVERY_ANSWER)
        headers = b"".join(name + b": " + value + b"\r\n" for name, value in answer.raw_headers)
        self.transport.write(STATUS_LINE[status] + headers + b"\r\n" + answer.body)
        self.transport.close()
