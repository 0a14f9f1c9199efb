"""Streams a blob to whoever asked: whole, in part, or not at all, with constant memory."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from fluxx.api.access.headers import INERT
from fluxx.api.problems import problem
from fluxx.api.ranges import Selection, select
from fluxx.ports.blobs import Blobs

OTHERS_BYTES: Final = {"cache-control": "private, no-cache", "content-security-policy": INERT}
"""Kept by the caller alone and asked for anew (the ETag answers it); and nothing that a browser would run."""


class Blob(msgspec.Struct, frozen=True, kw_only=True):
    """A blob as the database knows it."""

    path: str
    size: int
    sha256: str
    content_type: str


def blob_response(request: Request, blobs: Blobs, blob: Blob, headers: Mapping[str, str] | None = None) -> Response:
    """Return the answer to a GET or HEAD of ``blob``; ``headers`` are added to it.

    The blob is opened when the answer begins; where it is gone, ``NotFound`` comes out then.
    """
    etag = f'"{blob.sha256}"'
    selection = select(request.headers, size=blob.size, etag=etag)
    common = {"accept-ranges": "bytes", "etag": etag, **OTHERS_BYTES, **(headers or {})}
    match selection.status:
        case HTTPStatus.NOT_MODIFIED:
            return Response(status_code=selection.status, headers=common)
        case HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            common["content-range"] = f"bytes */{blob.size}"
            return problem(selection.status, f"The content has {blob.size} bytes.", headers=common)
        case HTTPStatus.PARTIAL_CONTENT:
            common["content-range"] = f"bytes {selection.start}-{selection.end - 1}/{blob.size}"
    common |= {"content-type": blob.content_type, "content-length": str(selection.end - selection.start)}
    return _BlobResponse(blobs, blob.path, selection, common)


class _BlobResponse(Response):
    """Sends the selected bytes; stops reading when the other side is gone."""

    def __init__(self, blobs: Blobs, path: str, selection: Selection, headers: Mapping[str, str]) -> None:
        self.status_code = selection.status
        self.background = None
        self.raw_headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        self._blobs = blobs
        self._path = path
        self._selection = selection

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer; an error before its first byte still becomes a problem."""
        async with self._blobs.open(self._path, start=self._selection.start, end=self._selection.end) as opened:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            if scope["method"] != "HEAD":
                await self._send_until_gone(opened.chunks, receive, send)
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_until_gone(self, chunks: AsyncIterator[bytes], receive: Receive, send: Send) -> None:
        gone = asyncio.create_task(_disconnected(receive))
        try:
            async for chunk in chunks:
                if gone.done():
                    return
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        finally:
            gone.cancel()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
