"""What kind of document a file is, and whether its pages can be read at all. Used in the worker processes.

No OCR engine is part of this package and none is downloaded: text that exists only as a picture
is not read, and every place that meets such a page says so.
"""

import mimetypes
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import kreuzberg
import pdfplumber

from fluxx.extractors.contract import CannotExtract

PDF: Final = "application/pdf"
VAGUE: Final = frozenset({"", "text/plain", "application/octet-stream", "binary/octet-stream"})
"""Types that say nothing: what else is known about the file decides."""

PDF_HEAD_BYTES: Final = 1024
"""A PDF says so within its first 1024 bytes (ISO 32000, as readers implement it)."""

OFFICE: Final = "application/vnd.openxmlformats-officedocument."
WORDS: Final = {
    PDF: "a PDF",
    OFFICE + "spreadsheetml.sheet": "an Excel workbook",
    OFFICE + "wordprocessingml.document": "a Word document",
    OFFICE + "presentationml.presentation": "a PowerPoint presentation",
}

SPARSE_CHARACTERS: Final = 100
"""A page with images and less text than this is taken for a scan."""

COMPOUND_FILE: Final = bytes.fromhex("d0cf11e0a1b11ae1")
ENCRYPTED_PACKAGE: Final = "EncryptedPackage".encode("utf-16-le")
NO_OCR: Final = "no OCR engine is installed here, so text inside images can't be read"


def media_type(path: Path, *, declared: str, name: str) -> str:
    """Return the file's type, from its content first, then from what was ``declared``, then from ``name``.

    ``declared`` is a Content-Type header or "", ``name`` a file name or "". Raises ``CannotExtract``
    for a file that is empty, locked, not what it was declared to be, or of no type that can be told.
    """
    content = path.read_bytes()
    if not content:
        raise CannotExtract("empty_file", "The file is empty (0 bytes).")
    if b"%PDF-" in content[:PDF_HEAD_BYTES]:
        return PDF
    if content.startswith(COMPOUND_FILE) and ENCRYPTED_PACKAGE in content:
        raise locked()
    found = _found(content)
    if found and not _is_text(found):
        return found
    return _of_text_or_unknown(found, _claims(declared, name))


def locked() -> CannotExtract:
    """Return the error for a document that only opens with a password."""
    return CannotExtract("password_protected", "The document is protected by a password and can't be opened.")


def broken(told: str) -> CannotExtract:
    """Return the error for a document whose structure can't be followed."""
    words = WORDS.get(told, f"a file of type {told}")
    return CannotExtract("broken_file", f"The file is damaged or incomplete: it can't be opened as {words}.")


def refuse_image(told: str) -> None:
    """Raise ``CannotExtract`` for a file that is nothing but an image."""
    if told.startswith("image/") and told != "image/svg+xml":
        raise CannotExtract("no_text", f"The file is an image ({told}), and {NO_OCR}.")


def scanned_pages(path: Path, characters: Sequence[int]) -> list[int]:
    """Return the numbers (from 1) of the pages that are images with next to no text.

    ``characters`` holds the number of characters of each page.
    """
    sparse = [number for number, count in enumerate(characters, start=1) if count < SPARSE_CHARACTERS]
    if not sparse:
        return []
    with pdfplumber.open(path, pages=sparse) as document:
        return [page.page_number for page in document.pages if page.images]


def about_scans(scanned: Sequence[int], characters: Sequence[int]) -> list[str]:
    """Return the warnings about ``scanned`` pages; raise ``CannotExtract`` if there is nothing else."""
    if not scanned:
        return []
    if len(scanned) == len(characters) and not any(characters):
        pages = "Its only page is an image" if len(scanned) == 1 else f"All {len(scanned)} pages are images"
        raise CannotExtract("no_text", f"The document holds no text. {pages}, and {NO_OCR}.")
    numbers = ", ".join(map(str, scanned))
    return [f"Of page {numbers} next to nothing was read: it is mostly an image, and {NO_OCR}."]


def _found(content: bytes) -> str:
    try:
        return kreuzberg.detect_mime_type(content)
    except (RuntimeError, kreuzberg.KreuzbergError):
        return ""


def _of_text_or_unknown(found: str, claims: Sequence[str]) -> str:
    """Return what the file is, given that its content is text (``found``) or tells nothing ("")."""
    for claim in claims:
        if claim in WORDS:  # these have a signature, and it is not there
            raise CannotExtract("broken_file", f"The file claims to be {WORDS[claim]}, but its content is not.")
    if found not in VAGUE:
        return found
    usable = [claim for claim in claims if _is_known(claim) and (_is_text(claim) or not found)]
    if not usable and not found:
        raise CannotExtract("unsupported_type", "The type of the file can't be told from its content.")
    return usable[0] if usable else found


def _claims(declared: str, name: str) -> list[str]:
    claims = (declared.partition(";")[0].strip().lower(), mimetypes.guess_type(name)[0] or "")
    return [claim for claim in claims if claim not in VAGUE]


def _is_known(told: str) -> bool:
    try:
        kreuzberg.validate_mime_type(told)
    except (RuntimeError, kreuzberg.KreuzbergError):
        return False
    return True


def _is_text(told: str) -> bool:
    return told.startswith("text/") or told.endswith(("/json", "/xml", "+json", "+xml", "/rtf", "/yaml", "/x-yaml"))
