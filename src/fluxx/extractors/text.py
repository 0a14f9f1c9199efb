"""Text and metadata of a document, by kreuzberg. Called in the worker processes.

The result is one JSON object, described by ``Text``.
"""

from pathlib import Path
from typing import Any, Final, Literal

import kreuzberg
import msgspec

from fluxx.extractors import documents
from fluxx.extractors.contract import CannotExtract

PAGE_BREAK: Final = "\f"
"""Stands between the pages of a PDF, as in the output of pdftotext."""

METADATA: Final = {
    "title": "title",
    "subject": "subject",
    "authors": "authors",
    "keywords": "keywords",
    "language": "language",
    "created_at": "createdAt",
    "modified_at": "modifiedAt",
    "created_by": "createdBy",
    "sheet_names": "sheetNames",
}
"""What is passed on of a document's own words, by kreuzberg's name, under which name."""


class Text(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    r"""The result of the ``text`` extractor.

    ``page_count`` is null for what has no pages. In a PDF's ``text`` the pages are parted by form
    feeds, so that ``text.split("\f")[n - 1]`` is page n. ``metadata`` holds what the document says of
    itself: strings or lists of strings, absent where unknown.
    """

    kind: Literal["text"] = "text"
    media_type: str
    page_count: int | None
    character_count: int
    metadata: dict[str, Any]
    warnings: list[str]
    text: str


def extract(path: Path, media_type: str) -> Text:
    """Return the text of the file at ``path``; raise ``CannotExtract`` with the reason why not."""
    documents.refuse_image(media_type)
    found = read(path, media_type)
    pages = [_lines(page["content"]) for page in found.pages or []] if media_type == documents.PDF else []
    warnings = _warnings(path, pages)
    text = PAGE_BREAK.join(pages) if pages else _lines(found.content)
    if not text.strip(PAGE_BREAK + "\n "):
        warnings.append("The document holds no text.")
    return Text(
        media_type=media_type,
        page_count=len(pages) or None,
        character_count=len(text),
        metadata={METADATA[name]: value for name, value in found.metadata.items() if name in METADATA and value},
        warnings=warnings,
        text=text,
    )


def read(path: Path, media_type: str) -> kreuzberg.ExtractionResult:
    """Have kreuzberg read the file; raise ``CannotExtract`` in words of ours."""
    config = kreuzberg.ExtractionConfig(
        use_cache=False,
        disable_ocr=True,  # type: ignore[call-arg]  # kreuzberg 4.10 takes it, its stub forgot it
        pages=kreuzberg.PageConfig(extract_pages=True),
    )
    try:
        return kreuzberg.extract_file_sync(path, media_type, config)
    except kreuzberg.ValidationError as error:
        raise CannotExtract("unsupported_type", f"Files of type {media_type} are not supported.") from error
    except kreuzberg.KreuzbergError as error:
        raise documents.locked() if "password" in str(error).lower() else documents.broken(media_type) from error


def _warnings(path: Path, pages: list[str]) -> list[str]:
    characters = [len(page.strip()) for page in pages]
    return documents.about_scans(documents.scanned_pages(path, characters), characters)


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n")
