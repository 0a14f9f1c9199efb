"""Tables of a document: pdfplumber for PDF, kreuzberg for spreadsheets and whatever else has tables.

Called in the worker processes. The result is one JSON object, described by ``Tables``.
"""

from pathlib import Path
from typing import Literal

import kreuzberg
import msgspec
import pdfplumber
from pdfminer.pdfdocument import PDFPasswordIncorrect
from pdfplumber.page import Page
from pdfplumber.pdf import PDF
from pdfplumber.utils.exceptions import PdfminerException

from fluxx.extractors import documents
from fluxx.extractors.text import read


class Table(msgspec.Struct, frozen=True):
    """One table: ``rows`` of cells, each a string, or null where a merged cell leaves a gap.

    ``page`` counts from 1 in a PDF, ``sheet`` names a spreadsheet's sheet; null where there is none.
    ``box`` is [left, top, right, bottom] in points from the page's upper left corner (PDF only).
    """

    rows: list[list[str | None]]
    page: int | None = None
    sheet: str | None = None
    box: tuple[float, float, float, float] | None = None


class Tables(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The result of the ``tables`` extractor; a document without tables has an empty list."""

    kind: Literal["tables"] = "tables"
    media_type: str
    page_count: int | None
    table_count: int
    warnings: list[str]
    tables: list[Table]


def extract(path: Path, media_type: str) -> Tables:
    """Return the tables of the file at ``path``; raise ``CannotExtract`` with the reason why not."""
    documents.refuse_image(media_type)
    return _of_pdf(path) if media_type == documents.PDF else _of_other(path, media_type)


def _of_pdf(path: Path) -> Tables:
    tables: list[Table] = []
    with _opened(path) as document:
        characters = []
        scanned = []
        for page in document.pages:
            characters.append(len(page.chars))
            if page.images and len(page.chars) < documents.SPARSE_CHARACTERS:
                scanned.append(page.page_number)
            tables.extend(_of_page(page))
            page.close()  # otherwise every page's objects stay in memory until the end
    return Tables(
        media_type=documents.PDF,
        page_count=len(characters),
        table_count=len(tables),
        warnings=documents.about_scans(scanned, characters),
        tables=tables,
    )


def _opened(path: Path) -> PDF:
    try:
        document = pdfplumber.open(path)
        _ = document.pages
    except PdfminerException as error:
        locked = any(isinstance(cause, PDFPasswordIncorrect) for cause in error.args)
        raise documents.locked() if locked else documents.broken(documents.PDF) from error
    return document


def _of_page(page: Page) -> list[Table]:
    return [
        Table(rows=table.extract(), page=page.page_number, box=_rounded(table.bbox)) for table in page.find_tables()
    ]


def _rounded(box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    left, top, right, bottom = (round(edge, 2) for edge in box)
    return left, top, right, bottom


def _of_other(path: Path, media_type: str) -> Tables:
    found = read(path, media_type)
    names = found.metadata.get("sheet_names") or []
    tables = [Table(rows=[list(row) for row in table.cells], sheet=_sheet(table, names)) for table in _each(found)]
    return Tables(media_type=media_type, page_count=None, table_count=len(tables), warnings=[], tables=tables)


def _each(found: kreuzberg.ExtractionResult) -> list[kreuzberg.ExtractedTable]:
    # kreuzberg 4.10 gives each table of an HTML page twice: once under page 0, once under its own number.
    unpaged = [table for table in found.tables if table.page_number == 0]
    return unpaged or list(found.tables)


def _sheet(table: kreuzberg.ExtractedTable, names: list[str]) -> str | None:
    return names[table.page_number - 1] if 0 < table.page_number <= len(names) else None
