"""What commands print: tables for people, plain columns for pipes, JSON for programs.

Everything that comes from outside (file names, messages) passes ``printable``, so that no escape
sequence in it reaches a terminal.
"""

import shutil
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rich.text import Text

    from fluxx.cli.tables import Column, Row

STYLE_OF: Final = {"Queued": "dim", "Started": "cyan", "Succeeded": "green", "Failed": "red"}
"""How a job's status is coloured."""


def printable(text: str) -> str:
    """Return ``text`` with everything escaped that a terminal would obey instead of show."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape", "replace").decode() for each in text)


def moment(value: datetime | None) -> str:
    """Return a time as people read it: UTC, to the second."""
    return f"{value:%Y-%m-%d %H:%M:%S}" if value else ""


def age(value: timedelta) -> str:
    """Return how long ago something was, in its largest unit."""
    seconds = max(int(value.total_seconds()), 0)
    sizes = ((86400, "d"), (3600, "h"), (60, "m"))
    return next((f"{seconds // size}{unit}" for size, unit in sizes if seconds >= size), f"{seconds}s")


def yes(value: bool) -> str:
    """Return a truth as a word."""
    return "yes" if value else "no"


def encodable(wanted: str, instead: str) -> str:
    """Return ``wanted`` where stdout can show it, else ``instead``."""
    try:
        wanted.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return instead
    return wanted


def json_line(value: Any) -> None:
    """Print a value as one line of JSON, always UTF-8."""
    import msgspec

    raw_line(msgspec.json.encode(value))


def raw_line(line: bytes) -> None:
    """Print bytes exactly as they are, and a line end."""
    sys.stdout.flush()
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def line(text: str) -> None:
    """Print one line for a person, at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def hint(text: str) -> None:
    """Tell a person something beside the output: on stderr, where no pipe takes it for data."""
    sys.stderr.write(text + "\n")


def listing(columns: "Sequence[Column]", rows: "Iterable[Row]", *, empty: str) -> None:
    """Print rows under their titles: as a table that fits the terminal; in a pipe only very long names are cut.

    ``empty`` is said on stderr where there are no rows.
    """
    from fluxx.cli import tables

    shown = [[printable(cell) for cell in row] for row in rows]
    if not shown:
        hint(empty)
        return
    ellipsis = encodable("…", "~")
    if not sys.stdout.isatty():
        for row in tables.laid_out(columns, shown, width=sys.maxsize, ellipsis=ellipsis) or []:
            line(tables.GAP.join(row).rstrip())
        return
    laid_out = tables.laid_out(columns, shown, width=terminal_width(), ellipsis=ellipsis)
    if laid_out is None:
        for each in tables.blocks(columns, shown, ellipsis=ellipsis):
            line(each)
    else:
        _print_styled(laid_out)


class Stream:
    """A listing whose rows come one by one, so that its columns have fixed widths; the last one is open."""

    def __init__(self, columns: "Sequence[tuple[str, int]]", *, empty: str) -> None:
        self._columns = columns
        self._empty = empty
        self._is_begun = False

    def row(self, *cells: str) -> None:
        """Print a row, at once; the titles before the first one."""
        if not self._is_begun:
            self._is_begun = True
            self._print([title for title, _ in self._columns])
        self._print(cells)

    def end(self) -> None:
        """Say on stderr where there was no row."""
        if not self._is_begun:
            hint(self._empty)

    def _print(self, cells: Sequence[str]) -> None:
        padded = [f"{printable(cell):<{width}}" for cell, (_, width) in zip(cells, self._columns, strict=True)]
        line("  ".join(padded).rstrip())


def styled(rows: "Iterable[Row]") -> "list[Text]":
    """Return laid-out rows, titles first, in a terminal's colours."""
    from rich.text import Text

    texts = []
    for place, row in enumerate(rows):
        parts = [(cell, "bold" if place == 0 else STYLE_OF.get(cell.strip(), "")) for cell in row]
        spaced = [part for each in parts for part in (("  ", ""), each)][1:]
        texts.append(Text.assemble(*spaced, no_wrap=True, overflow="ignore"))
    return texts


def terminal_width() -> int:
    """Return the columns of the terminal that stdout is."""
    return shutil.get_terminal_size().columns


def _print_styled(rows: "Iterable[Row]") -> None:
    from rich.console import Console

    console = Console(highlight=False)
    for each in styled(rows):
        console.print(each, soft_wrap=True)


def fields(pairs: Sequence[tuple[str, str]]) -> None:
    """Print one thing: a name and its value on each line."""
    width = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        line(f"{name:<{width}}  {printable(value)}".rstrip())
