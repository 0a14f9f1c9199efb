"""Finds known secrets in a line however they are written there, with bounded effort. Pure; used by ``scrubbing``.

Escapes are undone layer by layer, in every order: a kind undone too early takes letters of what another would bring
to light, for a secret may look like an escape. Some texts have over a hundred such readings, and whoever answers us
may send one, so only so much is looked at: what wasn't read to its end counts as hiding a secret.
"""

import base64
import re
from collections.abc import Iterator
from html import unescape
from typing import Final
from urllib.parse import unquote

LONG: Final = 32
"""Characters of a longer secret that tell it where the text was cut within it."""
WIDEST: Final = 12
"""Characters that one letter of a secret may have become."""
SHORTEST: Final = 4
"""Below this length only the secret itself is looked for; its encodings would be found everywhere."""

_LAYERS: Final = 4
"""Encodings on top of each other that are undone in looking for a secret."""
_EFFORT: Final = 60
"""Characters looked at in undoing escapes, for each character of a line: a page that mixes all kinds needs 20, and as
many again for each secret that it hides."""
_ESCAPE: Final = 10
"""Undoing an escape counts as looking at so many characters: it takes as long."""
_LEAST_LINE: Final = 256
"""A shorter line may take the effort of one of so many characters."""
_EDGE: Final = 5
"""Characters at either end of a long secret that are not looked for."""
_SHORTEST_CORE: Final = 12
"""Characters between the edges, so that no word is taken for a secret: ``application/json`` may be a signed URL's."""
_START: Final = LONG - _EDGE
"""Characters of a writing that are looked for first; where the text was cut they are enough, if it ends in the rest."""
_LONGEST_FOLD: Final = 3
"""Characters that one may become without its case."""

_ESCAPES: Final = re.compile(r"\\(?:u00|x)([0-9a-f]{2})|\\([\"'\\/])", re.IGNORECASE)


class Writings:
    """What to look for in a line: a secret, its hex, and the inner part of its base64 at each alignment.

    Where the line ``is_cut`` its end may be a secret's beginning.
    """

    def __init__(self, secret: str, line: str, *, is_cut: bool) -> None:
        fits = is_cut or not line.isascii() or len(secret.replace(" ", "")) <= len(line)
        # No writing is shorter than the secret itself, and of a longer one no more can be seen than the line is long.
        most = len(line) * (1 if line.isascii() else _LONGEST_FOLD) + 2 * _EDGE
        self._forms = [(form[:_START], form) for form in dict.fromkeys(_forms(secret[:most]))] if fits else []
        self.shortest = min((len(start) for start, _ in self._forms), default=most)

    def are_in(self, reading: str, *, is_cut: bool) -> bool:
        """Whether one of them is in ``reading``; where that ``is_cut``, its beginning and, at the end, more of it."""
        end = reading[-2 * WIDEST : -WIDEST] if is_cut else ""  # the last letters may be half of an escape
        return any(start in reading and (form in reading or (end and end in form)) for start, form in self._forms)


class Search:
    """Reads a line and its words; to be asked for one secret after the other, with effort for all of them together."""

    def __init__(self, line: str) -> None:
        self._left = _EFFORT * max(len(line), _LEAST_LINE)
        self._read: dict[str, list[str] | None] = {}

    def hides(self, text: str, writings: Writings, *, is_cut: bool) -> bool:
        """Whether ``text`` hides one of the writings, or there was no effort left to read it to its end."""
        if text.isascii() and len(text) < writings.shortest:
            return False  # undoing escapes makes nothing longer
        if text not in self._read:
            self._read[text] = self._all_readings(text)
        readings = self._read[text]
        return readings is None or any(writings.are_in(reading, is_cut=is_cut) for reading in readings)

    def _all_readings(self, text: str) -> list[str] | None:
        readings = [*self._readings(text)]
        return readings if self._left >= 0 or not any(mark in text for mark, _ in _KINDS) else None

    def _readings(self, text: str) -> Iterator[str]:
        """Yield ``text`` as it is (without blanks and case), and with its escapes undone."""
        layer = [text.replace(" ", "")]
        seen = set(layer)
        yield layer[0].casefold()
        for _ in range(_LAYERS):
            plainer = dict.fromkeys(undone for one in layer for undone in self._undone(one))
            layer = [one for one in plainer if one not in seen]
            seen.update(layer)
            yield from map(str.casefold, layer)

    def _undone(self, text: str) -> Iterator[str]:
        for mark, undo in _KINDS:
            if mark in text:
                self._left -= len(text) + _ESCAPE * text.count(mark)
                if self._left < 0:
                    return
                yield undo(text)


def _unescaped(text: str) -> str:
    return _ESCAPES.sub(_char, text)


def _char(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else escape[2]


def _unquoted(text: str) -> str:
    return unquote(text, errors="replace")


def _without_entities(text: str) -> str:
    try:
        return unescape(text)
    except ValueError:  # a number of more digits than Python reads
        return text


_KINDS: Final = (("\\", _unescaped), ("%", _unquoted), ("&", _without_entities))


def _forms(secret: str) -> Iterator[str]:
    plain = secret.replace(" ", "")
    if len(secret) < SHORTEST:
        yield plain.casefold()
        return
    if len(plain) >= _SHORTEST_CORE + 2 * _EDGE:
        plain = plain[_EDGE:-_EDGE]  # an escape that was begun before it may end with its first letters
    yield plain.casefold()
    encoded = secret.encode(errors="replace")
    yield encoded.hex()
    for shift in range(3):
        # Characters that hold bits of the neighbours differ from text to text; those between don't.
        first, last = -(-shift * 8 // 6), (shift + len(encoded)) * 8 // 6
        core = base64.b64encode(bytes(shift) + encoded).decode()[first:last]
        yield core.casefold()
        yield core.replace("+", "-").replace("/", "_").casefold()
