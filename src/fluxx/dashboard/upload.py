"""The page Upload: hand in files for a client application and watch what becomes of them."""

from collections.abc import AsyncIterator, Sequence
from typing import Final
from uuid import UUID

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from fluxx.dashboard.context import DashboardContext
from fluxx.dashboard.forms import an_id, fields_of, form_of
from fluxx.dashboard.rendering import Renderer
from fluxx.dashboard.seeing import Seeing
from fluxx.errors import BadInput
from fluxx.extractors.samples import sample_files
from fluxx.model.job import File

MOST_FILES: Final = 100
CHUNK: Final = 1024 * 1024
FORM_OVERHEAD: Final = 64 * 1024


class UploadPages:
    """``/dashboard/upload``."""

    def __init__(self, context: DashboardContext, renderer: Renderer) -> None:
        self._context = context
        self._renderer = renderer
        self._seeing = Seeing(context)

    def routes(self) -> list[Route]:
        """Return the routes; none where the process takes no files."""
        if "files" not in self._context.roles:
            return []
        return [
            Route("/dashboard/upload", self.show, methods=["GET"]),
            Route("/dashboard/upload", self.upload, methods=["POST"]),
            Route("/dashboard/upload/sample", self.sample, methods=["POST"]),
        ]

    async def show(self, request: Request) -> Response:
        """Show the form."""
        return await self._page(request, chosen=request.query_params.get("client", ""))

    async def upload(self, request: Request) -> Response:
        """Take files; lead to the one file's page, or to the jobs of all."""
        largest, words = self._context.uploading.max_bytes + FORM_OVERHEAD, "That is more than MAX_UPLOAD_BYTES allows."
        async with form_of(request, largest=largest, too_large=words, max_files=MOST_FILES, max_fields=10) as form:
            chosen = str(form.get("client", ""))
            parts = [part for part in form.getlist("file") if isinstance(part, UploadFile) and part.filename]
            try:
                client = self._client(request, chosen)
                files = await self._all_taken(client, parts)
            except BadInput as error:
                return await self._page(request, chosen=chosen, error=error)
        return _to(client, files)

    async def sample(self, request: Request) -> Response:
        """Hand in a sample document, to see the extractors of a client application at work."""
        fields = await fields_of(request)
        client = self._client(request, fields.text("client"))
        path = sample_files()[0]

        async def content() -> AsyncIterator[bytes]:
            yield path.read_bytes()

        file = await self._context.uploading.upload(
            client_application_id=client, file_name=path.name, content_type="application/pdf", content=content()
        )
        return _to(client, [file])

    def _client(self, request: Request, text: str) -> UUID:
        if not text:
            raise BadInput("Choose a client application first.", field="client")
        client = an_id(text, field="client")
        self._renderer.visitor(request).check(client, f"There is no client application {client}.")
        return client

    async def _all_taken(self, client: UUID, parts: Sequence[UploadFile]) -> Sequence[File]:
        if not parts:
            raise BadInput("Choose a file first.", field="file")
        return [await self._taken(client, part) for part in parts]

    async def _taken(self, client: UUID, part: UploadFile) -> File:
        async def content() -> AsyncIterator[bytes]:
            while chunk := await part.read(CHUNK):
                yield chunk

        return await self._context.uploading.upload(
            client_application_id=client,
            file_name=part.filename or "file",
            content_type=part.content_type or "application/octet-stream",
            content=content(),
        )

    async def _page(self, request: Request, *, chosen: str, error: BadInput | None = None) -> Response:
        registered = await self._seeing.registered(self._renderer.visitor(request))
        active = {each.client_application_id for each in registered.extractors.values() if each.is_active}
        return self._renderer.page(
            request,
            "upload.html",
            status=422 if error else 200,
            clients=[each for each in registered.clients.values() if each.is_active],
            active=active,
            chosen=chosen,
            error=error,
        )


def _to(client: UUID, files: Sequence[File]) -> Response:
    only = f"/dashboard/file/{files[0].file_id}" if len(files) == 1 else f"/dashboard/jobs?client={client}"
    return RedirectResponse(only, status_code=303)
