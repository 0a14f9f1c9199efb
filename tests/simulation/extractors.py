"""Other people's extractors behind the port ``ExtractorClient``, without sockets: calls travel, and get lost."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import msgspec
from msgspec.structs import replace

from fluxx.errors import NoAnswer, TooLarge
from fluxx.ports.extractor import Answer, Call, Download
from simulation.played_extractor import Asked, Kind, PlayedExtractor
from simulation.trace import Trace
from simulation.virtual_loop import VirtualLoop


class PlayedExtractors:
    """Keeps the promise of ``ports.extractor.ExtractorClient`` for every extractor that was added."""

    def __init__(self, loop: VirtualLoop, trace: Trace, readable: Callable[[str], bool]) -> None:
        self.all: dict[str, PlayedExtractor] = {}
        self.asked: list[Asked] = []
        self._loop = loop
        self._trace = trace
        self._readable = readable

    def add(self, extractor: PlayedExtractor) -> str:
        """Take an extractor in; return its extraction URL."""
        self.all[extractor.name] = extractor
        return f"https://{extractor.name}.test/extract"

    async def exchange(self, call: Call) -> Answer:
        """See ``ExtractorClient.exchange``."""
        kind: Kind = "submit" if call.method == "POST" else "poll"
        answer = await self._call(call, kind)
        if answer.status in range(200, 300) and len(answer.body) > call.max_bytes:
            raise TooLarge(f"The answer is larger than {call.max_bytes} bytes.")
        return answer

    @asynccontextmanager
    async def download(self, call: Call) -> AsyncIterator[Download]:
        """See ``ExtractorClient.download``."""
        answer = await self._call(call, "download")
        extractor = self._of(call)
        body = answer.body if answer.status == 200 else b""
        cut = len(body) // 2 if extractor.happens(extractor.temper.lost) else len(body)

        async def chunks() -> AsyncIterator[bytes]:
            for start in range(0, cut, 300):
                await asyncio.sleep(extractor.temper.travel)
                yield body[start : min(start + 300, cut)]
            if cut < len(body):
                raise NoAnswer("broke off in the middle of its answer.")

        yield Download(Answer(answer.status, answer.reason, answer.headers, b"" if body else answer.body), chunks())

    async def close(self) -> None:
        """See ``ExtractorClient.close``."""

    def _of(self, call: Call) -> PlayedExtractor:
        return self.all[str(urlsplit(call.url).hostname).removesuffix(".test")]

    async def _call(self, call: Call, kind: Kind) -> Answer:
        extractor, future = self._of(call), self._loop.create_future()
        self._loop.outside(extractor.travel(), self._arrive, extractor, call, kind, future)
        try:
            async with asyncio.timeout(call.timeout):
                answer: Answer = await future
                return answer
        except TimeoutError:
            raise NoAnswer(f"gave no answer within {call.timeout:g} s.") from None

    def _arrive(self, extractor: PlayedExtractor, call: Call, kind: Kind, future: "asyncio.Future[Any]") -> None:
        if extractor.happens(extractor.temper.lost):
            _fail(future, NoAnswer("doesn't accept connections.", sent=False))
            return
        asked = self._asked(extractor, call, kind)
        answer = extractor.reply(asked, call)
        self.asked.append(replace(asked, status=answer.status))
        self._trace.tell(extractor.name, kind, job=asked.job_id, status=answer.status, size=len(answer.body))
        if extractor.happens(extractor.temper.lost):
            self._loop.outside(extractor.travel(), _fail, future, NoAnswer("closed the connection."))
        elif not extractor.happens(extractor.temper.hanging):
            self._loop.outside(extractor.travel(), _settle, future, answer)

    def _asked(self, extractor: PlayedExtractor, call: Call, kind: Kind) -> Asked:
        body = msgspec.json.decode(call.body) if call.body else {}
        return Asked(
            at=self._loop.time(),
            extractor=extractor.name,
            kind=kind,
            job_id=UUID(body.get("jobId") or urlsplit(call.url).path.rpartition("/")[2]),
            idempotency_key=call.headers.get("Idempotency-Key"),
            key=call.api_key.reveal() if call.api_key else None,
            file_url=body.get("fileUrl"),
            readable=self._readable(body["fileUrl"]) if body else True,
        )


def _settle(future: "asyncio.Future[Any]", answer: Answer) -> None:
    if not future.done():
        future.set_result(answer)


def _fail(future: "asyncio.Future[Any]", error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
