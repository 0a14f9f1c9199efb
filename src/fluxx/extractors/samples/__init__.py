"""The documents that the package brings, for ``fluxx demo`` without arguments.

An invoice with a table, a spreadsheet, and a delivery note that was only scanned. Companies, people
and numbers in them are invented; ``tests/documents/make_documents.py`` makes the files.
"""

from importlib.resources import files
from pathlib import Path
from typing import Final

NAMES: Final = ("invoice.pdf", "stock-count.xlsx", "delivery-note-scan.pdf")

UNREADABLE: Final = frozenset({"delivery-note-scan.pdf"})
"""Samples that the extractors must refuse with a reason: text inside images is not read."""


def sample_files() -> list[Path]:
    """Return the sample documents, in the order in which a demo shows them."""
    folder = Path(str(files(__name__)))
    return [folder / name for name in NAMES]
