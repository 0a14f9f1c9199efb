"""Documents that are generated, whole or in marked sections, and compared with their generators.

A section stands between ``<!-- generated: name -->`` and ``<!-- end -->``.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]


def with_sections(path: str, **generators: Callable[[], str]) -> Callable[[], str]:
    """Return a generator of the whole document: as it is, with the named sections made anew."""

    def render() -> str:
        text = (ROOT / path).read_text("utf-8")
        for name, generate in generators.items():
            text = _replaced(text, name, generate())
        return text

    return render


def _replaced(text: str, name: str, content: str) -> str:
    start = f"<!-- generated: {name} -->\n"
    section = re.compile(f"(?<={re.escape(start)}).*?(?=<!-- end -->)", re.DOTALL)
    new, count = section.subn(lambda _: f"\n{content.strip()}\n\n", text)
    if count != 1:
        raise ValueError(f"expected one section named {name}, found {count}")
    return new
