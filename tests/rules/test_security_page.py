"""Every test that docs/security.md names as holding a promise is there, and holds something."""

import re

import pytest

from support.generated import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[^`]+)`", PAGE)))


@pytest.mark.parametrize("path", NAMED)
def test_a_test_that_the_page_names_is_there(path: str) -> None:
    text = (ROOT / path).read_text("utf-8")
    assert re.search(r"^(async )?def test_|^(from|import) contracts", text, re.MULTILINE), path


def test_every_promise_names_what_holds_it() -> None:
    rows = [row for row in re.findall(r"^\| (.+) \|$", PAGE, re.MULTILINE) if not row.startswith(("Promise", "---"))]
    assert rows
    assert [row for row in rows if "`tests/" not in row.rpartition(" | ")[2]] == []
