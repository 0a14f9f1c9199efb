"""Lays out listings for the room there is: ids are never cut, names give way.

Where even that is too much, each row becomes a small block of its own. Used by ``output`` and
``displays``; knows widths as terminals count them, and nothing of printing.
"""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final, NamedTuple

GAP: Final = "  "
LEAST: Final = 6
"""Characters that a cell keeps however narrow the terminal."""


class Room(Enum):
    """How a column behaves where room is short."""

    WHOLE = "never cut: it is there to be copied or compared"
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


def blocks(columns: Sequence[Column], rows: Iterable[Row]) -> list[str]:
    """Return each row as lines of title and value, with an empty line between rows."""
    indent = max(len(column.title) for column in columns)
    lines = []
    for row in rows:
        pairs = zip(columns, row, strict=True)
        lines += [f"{column.title:<{indent}}{GAP}{cell}" for column, cell in pairs if cell] + [""]
    return lines[:-1]


def _natural(columns: Sequence[Column], rows: Sequence[Row]) -> list[int]:
    from rich.cells import cell_len

    return [
        max([cell_len(column.title), *(cell_len(row[place]) for row in rows)]) for place, column in enumerate(columns)
    ]


def _fitting(columns: Sequence[Column], rows: Sequence[Row], width: int) -> list[int] | None:
    """Take room from the widest of the columns that can give some, until all fit."""
    widths = [
        natural if column.room is Room.WHOLE else min(natural, width)
        for natural, column in zip(_natural(columns, rows), columns, strict=True)
    ]
    if columns[-1].room is Room.LOOSE:
        widths[-1] = 0
    giving = [place for place, column in enumerate(columns) if column.room is Room.SHORT]
    while sum(widths) + len(GAP) * (len(widths) - 1) > width:
        widest = max(giving, key=lambda place: widths[place], default=0)
        if not giving or widths[widest] <= LEAST:
            return None
        widths[widest] -= 1
    return widths


def _fitted(cell: str, size: int, column: Column, ellipsis: str) -> str:
    from rich.cells import cell_len, set_cell_size

    if column.room is Room.LOOSE:
        return cell
    spare = size - cell_len(cell)
    if spare >= 0:
        return " " * spare + cell if column.right else cell + " " * spare
    return set_cell_size(cell, size - len(ellipsis)) + ellipsis
