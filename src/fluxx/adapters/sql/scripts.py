"""The migration scripts of one dialect: where they are, their numbers, checksums and statements.

Read by the runner in ``migrations.py``. The names, and the checksums, are Flyway's.
"""

import re
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

import msgspec

from fluxx.adapters.sql.engine import DialectName

NAME: Final = re.compile(r"V(?P<version>[1-9][0-9]*)__(?P<description>\w+)\.sql")
GO: Final = re.compile(r"^[ \t]*GO[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


class Script(msgspec.Struct, frozen=True):
    """One migration: ``V5__job_columns.sql`` has version 5 and the description "job columns"."""

    version: int
    description: str
    name: str
    text: str

    @property
    def checksum(self) -> int:
        """The CRC-32 of the lines without their ends, as a signed number: the one that Flyway keeps."""
        lines = self.text.removeprefix("\ufeff").replace("\n", "").encode()
        return int.from_bytes(zlib.crc32(lines).to_bytes(4), signed=True)


def shipped(dialect: DialectName) -> Traversable:
    """Return the folder of the scripts that come with this package."""
    return files("fluxx") / "migrations" / dialect


def read(folder: Traversable) -> list[Script]:
    """Return the scripts in ``folder``, in the order of their versions."""
    found = ((NAME.fullmatch(entry.name), entry) for entry in folder.iterdir())
    scripts = [
        Script(int(match["version"]), match["description"].replace("_", " "), entry.name, entry.read_text("utf-8"))
        for match, entry in found
        if match
    ]
    return sorted(scripts, key=lambda script: script.version)


def statements(script: Script, dialect: DialectName) -> Iterator[str]:
    """Yield what is sent to the database at a time: statements, batches, or the whole script."""
    return _SPLITTERS[dialect](script.text)


def _batches(text: str) -> Iterator[str]:
    """Split at ``GO`` lines, which are for tools and which SQL Server itself doesn't know."""
    return (batch.strip() for batch in GO.split(text) if batch.strip())


def _statements(text: str) -> Iterator[str]:
    """Split where SQLite says that a statement is complete; it takes one at a time."""
    gathered: list[str] = []
    for line in text.splitlines():
        gathered.append(line)
        if sqlite3.complete_statement("\n".join(gathered)):
            yield "\n".join(gathered).strip()
            gathered.clear()
    if rest := "\n".join(gathered).strip():
        yield rest


def _whole(text: str) -> Iterator[str]:
    """PostgreSQL takes a script as it is, all in the transaction that is open."""
    yield text


_SPLITTERS: Final[dict[DialectName, Callable[[str], Iterator[str]]]] = {
    "sqlite": _statements,
    "postgresql": _whole,
    "sqlserver": _batches,
}
