"""How a file comes in from a client application: bytes, row, message, in this order.

Called by ``POST /files`` and ``fluxx submit``. Whatever fails, nothing is announced that can't be
read: the message goes out last. Where only the message failed, the caller is told to try again
(``Unavailable``) and the file stays as it is: whether the broker took the message can't be known
then, and a job that came of it must find its file. A second upload is a second file with its own id;
the first one, if it was never announced, is a file without jobs until retention takes it.
"""

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import suppress
from uuid import UUID

from uuid_utils.compat import uuid7

from fluxx.clock import Clock
from fluxx.errors import FluxxError, TooLarge
from fluxx.intake.file_names import content_type_of, display_name
from fluxx.messages import accepted_file
from fluxx.messages.accepted_file import AcceptedFile
from fluxx.model.job import File
from fluxx.ports.blobs import Blobs
from fluxx.ports.bus import Message, Publisher
from fluxx.ports.registrations import FileStore, Registry
from fluxx.telemetry import FILE_UPLOADED, Facts


class Uploading:
    """Takes files of up to ``max_bytes`` and announces them on ``topic`` (``TOPIC_ACCEPTED_FILE``)."""

    def __init__(
        self,
        *,
        registry: Registry,
        files: FileStore,
        blobs: Blobs,
        bus: Publisher,
        topic: str,
        max_bytes: int,
        clock: Clock,
        facts: Facts,
    ) -> None:
        self.max_bytes = max_bytes
        self._registry = registry
        self._files = files
        self._blobs = blobs
        self._bus = bus
        self._topic = topic
        self._clock = clock
        self._facts = facts

    async def upload(
        self,
        *,
        client_application_id: UUID,
        file_name: str,
        content_type: str,
        content: AsyncIterable[bytes],
        trace_context: str | None = None,
    ) -> File:
        """Store and announce a file; an empty one is a file too. Memory stays constant.

        ``trace_context`` is the caller's ``traceparent``: the trace goes on to the message, the jobs and their events.

        Raises ``NotFound`` before any byte is read where there is no such active client application,
        ``TooLarge`` beyond ``max_bytes``, and what ``content`` raises; nothing is left of the file then.
        Raises ``Unavailable`` as told above.
        """
        with self._facts.span("upload", kind="server", parent=trace_context, client=client_application_id):
            await self._registry.active_extractors(client_application_id)
            file = await self._store(client_application_id, file_name, content_type, content)
            await self._add_row(file)
            await self._announce(file)
            self._facts.tell(FILE_UPLOADED, file_id=file.file_id, size=file.size)
            return file

    async def _store(
        self, client_application_id: UUID, file_name: str, content_type: str, content: AsyncIterable[bytes]
    ) -> File:
        file_id = uuid7()
        path = f"files/{client_application_id}/{file_id}/content"
        checked_type = content_type_of(content_type)
        stored = await self._blobs.write(path, self._bounded(content), content_type=checked_type)
        return File(
            file_id=file_id,
            client_application_id=client_application_id,
            file_name=display_name(file_name),
            content_type=checked_type,
            size=stored.size,
            sha256=stored.sha256,
            blob_path=path,
            is_remote=False,
            created_at=self._clock.now(),
        )

    async def _bounded(self, content: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in content:
            size += len(chunk)
            if size > self.max_bytes:
                raise TooLarge(f"The file is larger than {self.max_bytes} bytes (MAX_UPLOAD_BYTES).")
            yield chunk

    async def _add_row(self, file: File) -> None:
        try:
            await self._files.add_file(file)
        except Exception:
            with suppress(FluxxError):
                await self._blobs.delete(file.blob_path)
            raise

    async def _announce(self, file: File) -> None:
        with self._facts.span("announce", kind="producer", file_id=file.file_id) as span:
            message = AcceptedFile(
                file_id=file.file_id,
                client_application_id=file.client_application_id,
                trace_context=span.traceparent,
            )
            try:
                await self._bus.publish(self._topic, [_message(message)])
            except FluxxError:
                with suppress(FluxxError):
                    await self._files.give_up(file.file_id)
                raise


def _message(message: AcceptedFile) -> Message:
    file_id = str(message.file_id)
    return Message(
        message_id=file_id,
        body=accepted_file.encode(message),
        order_key=file_id,
        trace_context=message.trace_context,
    )
