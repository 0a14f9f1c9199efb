"""How extractors are called: one HTTP exchange within bounds, or one streamed download.

The port carries bytes and says nothing about their meaning: ``extraction/answers.py`` does.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import msgspec

from fluxx.ports.secrets import ApiKey


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A request to an extractor.

    ``api_key`` is sent as ``Authorization: Bearer`` to the origin of ``url`` and nowhere else.
    ``timeout`` bounds the whole exchange in seconds, ``max_bytes`` the (decoded) body of a 2xx.
    """

    method: str
    url: str
    api_key: ApiKey | None = None
    headers: Mapping[str, str] = {}
    body: bytes | None = None
    timeout: float
    max_bytes: int


class Answer(msgspec.Struct, frozen=True):
    """What came back: status, reason phrase, headers with lower-case names, the body (its beginning, but of a 2xx)."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes


class Download(msgspec.Struct, frozen=True):
    """An answer whose body is read piece by piece; ``answer.body`` is an excerpt if it isn't a 2xx."""

    answer: Answer
    chunks: AsyncIterator[bytes]


class ExtractorClient(Protocol):
    """HTTP out, behind the egress guard.

    Both methods raise ``EgressRefused`` for an address that may not be called, ``NoAnswer`` for
    connection errors, timeouts and broken answers, ``TooLarge`` for a 2xx beyond ``max_bytes``, ``Unavailable``
    where this machine can open no connection, whoever is called.
    """

    async def exchange(self, call: Call) -> Answer:
        """Make the call and return the answer, whatever its status; see ``Answer``."""
        ...

    def download(self, call: Call) -> AbstractAsyncContextManager[Download]:
        """Make the call and stream the body; ``timeout`` bounds the wait between pieces."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...


class EgressRules(Protocol):
    """Which URLs may be called, for whoever stores one to be called later."""

    def check_url(self, url: str) -> None:
        """Raise ``EgressRefused``, in one line that says why, where ``url`` can never be called.

        A name is taken as it stands: what it resolves to is judged at each call.
        """
        ...
