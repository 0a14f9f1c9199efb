"""What commands print: tables for people, plain columns for pipes, JSON for programs.

Everything that comes from outside (file names, messages) passes ``printable``, so that no escape
sequence in it reaches a terminal.
"""

import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from rich.table import Table

STYLE_OF: Final = {"Queued": "dim", "Started": "cyan", "Succeeded": "green", "Failed": "red"}
"""How a job's status is coloured."""


MIN_WIDTH: Final = 4
"""Characters that a shortened column keeps."""


class Column(NamedTuple):
    """A column of a listing. A ``whole`` one is never shortened: ids are there to be copied."""

    title: str
    whole: bool = False
    right: bool = False


def printable(text: str) -> str:
    """Return ``text`` with everything escaped that a terminal would obey instead of show."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape", "replace").decode() for each in text)


def moment(value: datetime | None) -> str:
    """Return a time as people read it: UTC, to the second."""
    return f"{value:%Y-%m-%d %H:%M:%S}" if value else ""


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


def listing(columns: Sequence[Column], rows: Iterable[Sequence[str]], *, empty: str) -> None:
    """Print rows under their titles: a table that fits the terminal, or whole plain columns in a pipe.

    ``empty`` is said on stderr where there are no rows.
    """
    from rich.console import Console

    shown = [[printable(cell) for cell in row] for row in rows]
    if not shown:
        hint(empty)
    elif sys.stdout.isatty():
        Console(highlight=False).print(table(columns, shown))
    else:
        _plain(columns, shown)


def fields(pairs: Sequence[tuple[str, str]]) -> None:
    """Print one thing: a name and its value on each line."""
    width = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        line(f"{name:<{width}}  {printable(value)}".rstrip())


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> "Table":
    """Return a table for a terminal; where it is narrow, whole columns wrap and others end in an ellipsis."""
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        made.add_column(
            column.title,
            justify="right" if column.right else "left",
            no_wrap=not column.whole,
            overflow="fold" if column.whole else "ellipsis",
            min_width=MIN_WIDTH if not column.whole else None,
        )
    for row in rows:
        made.add_row(*(Text(cell, style=STYLE_OF.get(cell, "")) for cell in row))
    return made


def _plain(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    from rich.cells import cell_len

    titled = [[column.title for column in columns], *rows]
    widths = [max(cell_len(row[place]) for row in titled) for place in range(len(columns))]
    for row in titled:
        cells = (cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True))
        line("  ".join(cells).rstrip())
