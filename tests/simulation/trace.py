"""What happened, line by line, the same for the same seed: ids are numbered in the order of their first sight."""

import hashlib
import re
from typing import Any

from simulation.virtual_loop import VirtualLoop

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SIGNATURE = re.compile(r"signature=[0-9a-f]{64}")


class Trace:
    """``lines`` are for people, ``digest`` is for comparing two runs."""

    def __init__(self, loop: VirtualLoop) -> None:
        self.lines: list[str] = []
        self._loop = loop
        self._names: dict[str, str] = {}

    def tell(self, who: str, what: str, **fields: Any) -> None:
        """Add a line."""
        told = " ".join([what, *(f"{name}={value}" for name, value in fields.items())])
        self.lines.append(f"{self._loop.time():11.6f} {who:9} {self.plain(told)}")

    def plain(self, text: str) -> str:
        """Return ``text`` without what differs from run to run."""
        return _SIGNATURE.sub("signature=…", _ID.sub(self._name, text))

    def digest(self) -> str:
        """Return a hash of all lines."""
        return hashlib.sha256("\n".join(self.lines).encode()).hexdigest()

    def _name(self, match: re.Match[str]) -> str:
        return self._names.setdefault(match[0], f"#{len(self._names)}")
