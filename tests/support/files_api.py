"""Just enough of the files API to read a folder's blobs by signed URL, with ranges."""

from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import UUID

from aiohttp import web

from fluxx.adapters.embedded.signing import UrlSigner
from fluxx.clock import SystemClock


class FilesApi:
    """Serves the blobs below ``root`` whose URLs ``signer`` signed."""

    def __init__(self, root: Path, signer: UrlSigner) -> None:
        self._root = root
        self._signer = signer
        application = web.Application()
        application.router.add_get("/files/{file_id}/content", self._content)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self._signer.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._runner.cleanup()

    async def _content(self, request: web.Request) -> web.StreamResponse:
        file_id = UUID(request.match_info["file_id"])
        expires, signature = int(request.query["expires"]), request.query["signature"]
        if not self._signer.verify(file_id, expires, signature, SystemClock().now()):
            raise web.HTTPForbidden
        return web.FileResponse(next(self._root.glob(f"files/*/{file_id}/content")))
