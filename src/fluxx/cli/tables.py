"""Lays out listings for the room there is: ids are never cut, names give way, and no long one pushes the rest away.

Where even that is too much, each row becomes a small block of its own. Used by ``output`` and
``displays``; knows widths as terminals count them, and nothing of printing.
"""

import sys
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final, NamedTuple

GAP: Final = "  "
LEAST: Final = 6
"""Cells that a column keeps however narrow the terminal; one with a longer title keeps that."""
LONGEST_NAME: Final = 40
"""Cells that a name takes at most, however wide the room: others choose names, and one may have hundreds."""


class Room(Enum):
    """How a column behaves where room is short."""

    WHOLE = "never cut: it is there to be copied or compared"
    NAME = "cut in its middle, and never longer than a name may be: its ending often tells it from others"
    SHORT = "cut, and ends in an ellipsis"
    LOOSE = "never cut, wrapped by the terminal: only for the last column"


class Column(NamedTuple):
    """A column of a listing."""

    title: str
    room: Room = Room.SHORT
    right: bool = False


Row = Sequence[str]


def natural_width(columns: Sequence[Column], rows: Iterable[Row]) -> int:
    """Return the width at which nothing is cut."""
    natural = _natural(columns, list(rows))
    return sum(natural) + len(GAP) * (len(natural) - 1)


def laid_out(columns: Sequence[Column], rows: Iterable[Row], *, width: int, ellipsis: str = "…") -> list[Row] | None:
    """Return titles and rows as padded cells that fit ``width`` side by side; None where they can't."""
    kept = [[column.title for column in columns], *rows]
    widths = _fitting(columns, kept, width)
    if widths is None:
        return None
    return [
        [_fitted(cell, size, column, ellipsis) for cell, size, column in zip(row, widths, columns, strict=True)]
        for row in kept
    ]


def laid_out_in_part(
    columns: Sequence[Column], rows: Iterable[Row], *, width: int, ellipsis: str = "…"
) -> tuple[list[Row], Sequence[Column]]:
    """Return titles and rows of the columns that fit ``width``, and the columns at the end that don't."""
    kept = [*rows]
    for count in range(len(columns), 1, -1):
        fitting = laid_out(columns[:count], [row[:count] for row in kept], width=width, ellipsis=ellipsis)
        if fitting is not None:
            return fitting, columns[count:]
    names = laid_out(columns[:1], [row[:1] for row in kept], width=sys.maxsize, ellipsis=ellipsis)
    return names or [], columns[1:]


def wrapped(text: str, width: int) -> list[str]:
    """Return a sentence as lines of at most ``width`` cells, all but the first a little to the right."""
    from rich.cells import cell_len
    from rich.console import Console
    from rich.text import Text

    if cell_len(text) <= width:
        return [text]
    return "\n  ".join(line.plain.rstrip() for line in Text(text).wrap(Console(), width - len(GAP))).split("\n")


def blocks(columns: Sequence[Column], rows: Iterable[Row], *, ellipsis: str = "…") -> list[str]:
    """Return each row as lines of title and value, with an empty line between rows."""
    indent = max(len(column.title) for column in columns)
    lines = []
    for row in rows:
        pairs = [(column, _bounded(cell, column, ellipsis)) for column, cell in zip(columns, row, strict=True)]
        lines += [f"{column.title:<{indent}}{GAP}{cell}" for column, cell in pairs if cell] + [""]
    return lines[:-1]


def shortened(name: str, size: int = LONGEST_NAME, *, ellipsis: str = "…") -> str:
    """Return a name in at most ``size`` cells: of a longer one the beginning and the ending."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(name) <= size:
        return name
    kept = size - len(ellipsis)
    ending = set_cell_size(name[::-1], kept // 2)[::-1]
    return set_cell_size(name, kept - kept // 2) + ellipsis + ending


def _bounded(cell: str, column: Column, ellipsis: str) -> str:
    return shortened(cell, ellipsis=ellipsis) if column.room is Room.NAME else cell


def _natural(columns: Sequence[Column], rows: Sequence[Row]) -> list[int]:
    from rich.cells import cell_len

    widths = [
        max([cell_len(column.title), *(cell_len(row[place]) for row in rows)]) for place, column in enumerate(columns)
    ]
    return [
        min(width, LONGEST_NAME) if column.room is Room.NAME else width
        for width, column in zip(widths, columns, strict=True)
    ]


def _fitting(columns: Sequence[Column], rows: Sequence[Row], width: int) -> list[int] | None:
    """Take room from the widest of the columns that can give some, until all fit."""
    widths = [
        natural if column.room is Room.WHOLE else min(natural, width)
        for natural, column in zip(_natural(columns, rows), columns, strict=True)
    ]
    if columns[-1].room is Room.LOOSE:
        widths[-1] = 0
    while sum(widths) + len(GAP) * (len(widths) - 1) > width:
        giving = [
            place
            for place, column in enumerate(columns)
            if column.room in {Room.NAME, Room.SHORT} and widths[place] > max(LEAST, len(column.title))
        ]
        if not giving:
            return None
        widths[max(giving, key=widths.__getitem__)] -= 1
    return widths


def _fitted(cell: str, size: int, column: Column, ellipsis: str) -> str:
    from rich.cells import cell_len, set_cell_size

    if column.room is Room.LOOSE:
        return cell
    if column.room is Room.NAME:
        cell = shortened(cell, size, ellipsis=ellipsis)
    spare = size - cell_len(cell)
    if spare >= 0:
        return " " * spare + cell if column.right else cell + " " * spare
    return set_cell_size(cell, size - len(ellipsis)) + ellipsis
