"""Every link from one page of the documentation to a file, or to a heading of a page, leads somewhere."""

import re
from pathlib import Path

import pytest

from support.generated import ROOT

PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)")
_FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for target, heading in _LINK.findall(_FENCED.sub("", page.read_text("utf-8"))):
        found = (page.parent / target) if target else page
        assert found.exists(), target
        if heading:
            assert heading in _headings(found), f"{target}#{heading}"


def _headings(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", _FENCED.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
