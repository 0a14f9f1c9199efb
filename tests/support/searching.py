"""Finds planted secrets in a text, whole or in part, in every writing."""

from collections.abc import Iterable, Iterator

from support.writings import WRITINGS

BEGINNING = 6
"""Letters: no quarter of a secret is shorter."""


class Search:
    """Finds where half of a secret can be read in a text, in whatever writing.

    Whoever has half of a word has one of its quarters whole. Each place of a text is looked at once, however many
    quarters there are: by the letters that they begin with.
    """

    def __init__(self, canaries: Iterable[str]) -> None:
        self._quarters: dict[str, set[tuple[str, str]]] = {}
        for canary in canaries:
            for name, writing in WRITINGS.items():
                written = writing(canary)
                size = len(written) // 4
                for quarter in (written[at : at + size] for at in range(0, 4 * size, size)):
                    self._quarters.setdefault(quarter[:BEGINNING], set()).add((quarter, f"{canary} ({name})"))

    def leaks(self, text: str) -> Iterator[str]:
        """Yield what is found, with what stands around it."""
        for at in range(len(text)):
            for quarter, what in self._quarters.get(text[at : at + BEGINNING], ()):
                if text.startswith(quarter, at):
                    yield f"{what}: {text[max(0, at - 150) : at + 80]}"
