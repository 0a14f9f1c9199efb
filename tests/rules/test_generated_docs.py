"""Documents that are made from code are what the code makes. ``UPDATE_DOCS=1`` writes them anew.

To add a document: give its path and a function that returns its whole text.
"""

import difflib
import os
from collections.abc import Callable

import pytest

from fluxx.cli import configuration_page, metrics_page, reference_page
from fluxx.extraction import matrix_page
from fluxx.model import drawing
from support.generated import ROOT, with_sections
from support.golden import envelopes_page
from support.openapi_pages import openapi_page

GENERATED: dict[str, Callable[[], str]] = {
    "docs/cli.md": reference_page.render,
    "docs/configuration.md": configuration_page.render,
    "docs/events.md": with_sections("docs/events.md", envelopes=envelopes_page),
    "docs/extractor-contract.md": with_sections("docs/extractor-contract.md", matrix=matrix_page.render),
    "docs/metrics.md": metrics_page.render,
    "docs/openapi/files.json": openapi_page("files"),
    "docs/openapi/jobs.json": openapi_page("jobs"),
    "docs/openapi/registration.json": openapi_page("registration"),
    "docs/state-machine.md": drawing.render,
}


@pytest.mark.parametrize("path", GENERATED)
def test_a_generated_document_is_what_the_code_makes(path: str) -> None:
    document, generated = ROOT / path, GENERATED[path]()
    if os.environ.get("UPDATE_DOCS") == "1":
        document.parent.mkdir(parents=True, exist_ok=True)
        document.write_text(generated, "utf-8")
    present = document.read_text("utf-8") if document.exists() else ""
    difference = difflib.unified_diff(present.splitlines(), generated.splitlines(), path, "generated", lineterm="", n=1)
    assert present == generated, "\n".join(["UPDATE_DOCS=1 writes it anew", *difference])
