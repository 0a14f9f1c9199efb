"""The files API: uploads, what is known of a file, and embedded files by signed URL."""

import re
from http import HTTPStatus
from typing import Annotated, Final
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter, Path, Query
from python_multipart.multipart import parse_options_header
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from fluxx.api.access.callers import CallerOf
from fluxx.api.blob_response import Blob, blob_response
from fluxx.api.context import ApiContext
from fluxx.api.multipart import FIELD, file_part
from fluxx.api.openapi import also, answer, new_router, problems, returns
from fluxx.api.schemas import AcceptedUpload, FileDetails
from fluxx.errors import BadInput, NotFound, TooLarge
from fluxx.messages.accepted_file import trace_context

FileId = Annotated[UUID, Path(alias="fileId", description="The file's id.")]
FORM_OVERHEAD: Final = 64 * 1024
"""Bytes that a form may have around its file before its declared length alone shows that it is too large."""

_UNIX_TIME: Final = re.compile(r"[0-9]{1,15}")
_BYTES: Final = {"type": "string", "format": "binary"}
_FORM: Final = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": [FIELD],
                    "properties": {FIELD: {"type": "string", "contentMediaType": "application/octet-stream"}},
                }
            }
        },
    }
}


class FileRoutes:
    """The routes under ``/files``."""

    def __init__(self, context: ApiContext) -> None:
        self._files = context.files
        self._uploading = context.uploading
        self._blobs = context.blobs
        self._signer = context.signer
        self._clock = context.clock

    def router(self) -> APIRouter:
        """Return the routes."""
        router = new_router("files", prefix="/files")
        router.add_api_route(
            "",
            self.upload_file,
            methods=["POST"],
            status_code=HTTPStatus.ACCEPTED,
            openapi_extra=_FORM,
            responses=returns(202, "Stored and announced.", AcceptedUpload)
            | problems(400, 404, 408, 413, 415, 422, 503),
        )
        router.add_api_route(
            "/{fileId}",
            self.get_file,
            methods=["GET"],
            responses=returns(200, "The file.", FileDetails) | problems(400, 404, 503),
        )
        self._add_content(router)
        return router

    def _add_content(self, router: APIRouter) -> None:
        router.add_api_route(
            "/{fileId}/content",
            self.get_content,
            methods=["GET"],
            responses=also(200, "The file's bytes, in its own content type.", media_type="*/*", schema=_BYTES)
            | also(206, "A part of them.", media_type="*/*", schema=_BYTES)
            | also(304, "Not changed.")
            | problems(400, 403, 404, 416, 503),
        )

    async def upload_file(
        self,
        request: Request,
        client_application_id: Annotated[UUID, Query(alias="clientApplicationId", description="Whose file it is.")],
        caller: CallerOf,
    ) -> Response:
        """Upload a file as the form field `file`; a job follows for each active extractor."""
        caller.check(client_application_id, f"There is no active client application {client_application_id}.")
        self._check_declared_length(request)
        part = await file_part(_boundary(request), request.stream())
        file = await self._uploading.upload(
            client_application_id=client_application_id,
            file_name=part.file_name,
            content_type=part.content_type,
            content=part.content,
            trace_context=trace_context(request.headers.get("traceparent")),
        )
        return answer(AcceptedUpload(file_id=file.file_id), 202)

    async def get_file(self, file_id: FileId, caller: CallerOf) -> Response:
        """Return what is known of a file."""
        file = await self._files.file(file_id)
        caller.check(file.client_application_id, f"There is no file {file_id}.")
        return answer(FileDetails.of(file))

    async def get_content(
        self,
        request: Request,
        file_id: FileId,
        expires: Annotated[str, Query(description="Unix time, as signed.")] = "",
        signature: Annotated[str, Query(description="As signed.")] = "",
    ) -> Response:
        """Return a file's bytes to the bearer of a signed URL, whole or in part (`Range`)."""
        self._check_signature(file_id, expires, signature)
        file = await self._files.file(file_id)
        if file.is_remote or file.size is None or file.sha256 is None:
            raise NotFound(f"The content of file {file_id} is not kept here.")
        blob = Blob(path=file.blob_path, size=file.size, sha256=file.sha256, content_type=file.content_type)
        return blob_response(request, self._blobs, blob, {"content-disposition": attachment(file.file_name)})

    def _check_declared_length(self, request: Request) -> None:
        declared = request.headers.get("content-length", "0")
        if declared.isdecimal() and int(declared) > self._uploading.max_bytes + FORM_OVERHEAD:
            raise TooLarge(f"The file is larger than {self._uploading.max_bytes} bytes (MAX_UPLOAD_BYTES).")

    def _check_signature(self, file_id: UUID, expires: str, signature: str) -> None:
        refused = HTTPException(HTTPStatus.FORBIDDEN, "The signature is missing, wrong or expired.")
        if self._signer is None or not _UNIX_TIME.fullmatch(expires):
            raise refused
        if not self._signer.verify(file_id, int(expires), signature, self._clock.now()):
            raise refused


def attachment(file_name: str) -> str:
    """Return a ``Content-Disposition`` that names the file for old and new readers (RFC 6266, RFC 8187)."""
    plain = "".join(character if character.isascii() and character not in '"\\%' else "_" for character in file_name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(file_name, safe='')}"


def _boundary(request: Request) -> bytes:
    kind, options = parse_options_header(request.headers.get("content-type"))
    if kind != b"multipart/form-data":
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "The body must be multipart/form-data.")
    boundary = options.get(b"boundary", b"")
    if not boundary:
        raise BadInput("Content-Type names no boundary.", field="Content-Type", malformed=True)
    return boundary
