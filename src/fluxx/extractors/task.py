"""What a server and its worker processes say to each other: one JSON object a line."""

import msgspec

from fluxx.extractors.contract import Failure


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """Extract ``kind`` from the file at ``path`` into ``result_path``.

    ``declared_type`` is the Content-Type it came with, ``name`` its file name; "" where unknown.
    """

    kind: str
    path: str
    result_path: str
    declared_type: str
    name: str


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """The result is written, ``size`` bytes; or there is none because of ``failure``."""

    size: int = 0
    failure: Failure | None = None
