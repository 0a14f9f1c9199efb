"""What ``fluxx demo`` shows at its end: the jobs, a piece of what was extracted, and why what failed did."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import msgspec
from rich.cells import cell_len, set_cell_size

from fluxx.cli.displays import duration
from fluxx.cli.output import encodable, line, listing, printable, terminal_width
from fluxx.cli.tables import Column, Room, natural_width
from fluxx.cli.watching import Seen
from fluxx.model.job import Status

COLUMNS: Final = (
    Column("FILE", Room.NAME),
    Column("EXTRACTOR", Room.NAME),
    Column("STATUS", Room.WHOLE),
    Column("POLLS", Room.WHOLE, right=True),
    Column("TIME", Room.WHOLE, right=True),
)
RESULT: Final = Column("RESULT", Room.WHOLE)
LINES: Final = 8
"""Lines of text, and rows of a table, that are shown."""

CELLS: Final = 5
"""Columns of an extracted table that are shown."""

LARGEST_SHOWN: Final = 20 * 2**20
"""Bytes of a result that is still opened to show a piece of it."""

REPORTED: Final = "Extractor reported "
OURS: Final = ("download_failed", "internal_error")
"""What an extractor reports that says nothing about the file."""


def is_verdict(seen: Seen) -> bool:
    """Whether the job failed because its extractor judged the file: an honest answer, not a fault."""
    code = (seen.job.status_message or "").removeprefix(REPORTED).partition(":")[0]
    return (seen.job.status_message or "").startswith(REPORTED) and code not in OURS


def show(seen: Sequence[Seen], home: Path) -> None:
    """Print it all; the results are read from the folder they are in."""
    blobs = home / "blobs"
    line("")
    _show_jobs(seen, blobs)
    for each, result in _results(seen, blobs, "text"):
        if str(result.get("text", "")).strip():
            _show_text(each, result)
            break
    for each, result in _results(seen, blobs, "tables"):
        if result.get("tables"):
            _show_table(each, result)
            break
    _show_failures(seen)


def summary(seen: Sequence[Seen], faults: Sequence[Seen]) -> str:
    """Return the outcome in one sentence."""
    succeeded = sum(each.job.status is Status.SUCCEEDED for each in seen)
    verdicts = sum(is_verdict(each) for each in seen)
    begin = min(each.job.created_at for each in seen)
    end = max(each.job.completed_at or each.job.updated_at for each in seen)
    words = [f"{len(seen)} jobs in {duration(begin, end)}: {succeeded} succeeded"]
    if verdicts:
        words.append(f"{verdicts} failed because the extractor could not read the file, which is its honest answer")
    if faults:
        words.append(f"{len(faults)} did not end as they should")
    return ", ".join(words) + "."


def _show_jobs(seen: Sequence[Seen], blobs: Path) -> None:
    """Print a table of the jobs with the paths of their results, beside it where that fits, else below."""
    rows = [
        (
            each.file_name,
            each.extractor_name,
            each.job.status,
            str(each.job.poll_attempt_count),
            duration(each.job.created_at, each.job.completed_at or each.job.updated_at),
        )
        for each in seen
    ]
    paths = [str(blobs / each.job.extractor_response) if each.job.extractor_response else "-" for each in seen]
    whole = [(*row, path) for row, path in zip(rows, paths, strict=True)]
    if not sys.stdout.isatty() or natural_width((*COLUMNS, RESULT), whole) <= terminal_width():
        listing((*COLUMNS, RESULT), whole, empty="")
        return
    listing(COLUMNS, rows, empty="")
    line("\nResults, byte for byte as the extractors sent them:")
    for each, path in zip(seen, paths, strict=True):
        if each.job.extractor_response:
            line(f"  {printable(each.file_name)}, {printable(each.extractor_name)}\n{path}")


def _results(seen: Sequence[Seen], blobs: Path, extractor: str) -> Iterator[tuple[Seen, dict[str, Any]]]:
    for each in seen:
        path = each.job.extractor_response
        if each.extractor_name == extractor and path and (each.job.result_size or 0) < LARGEST_SHOWN:
            yield each, msgspec.json.decode((blobs / path).read_bytes(), type=dict[str, Any])


def _show_text(seen: Seen, result: Mapping[str, Any]) -> None:
    line(f"\nThe first lines of the text of {printable(seen.file_name)}:")
    lines = [each.strip() for each in str(result["text"]).splitlines() if each.strip()]
    for each in lines[:LINES]:
        line(_fitted(f"  | {printable(each)}"))


def _show_table(seen: Seen, result: Mapping[str, Any]) -> None:
    line(f"\nThe first rows of the first table of {printable(seen.file_name)}:")
    rows = [[printable(str(cell or "")) for cell in row[:CELLS]] for row in result["tables"][0]["rows"][:LINES]]
    widths = [max(map(cell_len, column)) for column in zip_longest(*rows, fillvalue="")]
    for row in rows:
        cells = (set_cell_size(cell, width) for cell, width in zip(row, widths, strict=False))
        line(_fitted("  | " + " | ".join(cells).rstrip()))


def _show_failures(seen: Sequence[Seen]) -> None:
    reasons: dict[tuple[UUID, str], list[Seen]] = {}
    for each in seen:
        if each.job.status is Status.FAILED:
            reasons.setdefault((each.job.file_id, each.job.status_message or ""), []).append(each)
    if reasons:
        line("\nWhy jobs failed:")
    for (_, reason), those in reasons.items():
        extractors = " and ".join(printable(each.extractor_name) for each in those)
        line(f"  {printable(those[0].file_name)}, {extractors}:\n    {printable(reason)}")


def _fitted(text: str) -> str:
    """Cut a line to the terminal's width."""
    width = terminal_width() if sys.stdout.isatty() else 120
    return text if cell_len(text) <= width else set_cell_size(text, width - 1).rstrip() + encodable("…", "~")
