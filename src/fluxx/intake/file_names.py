"""What becomes of the names that files come with: data for people, never a part of a path."""

import re
from typing import Final

LONGEST_NAME: Final = 400
"""UTF-16 code units: ``NVARCHAR(400)``."""
LONGEST_CONTENT_TYPE: Final = 200
UNNAMED: Final = "unnamed"
UNKNOWN_TYPE: Final = "application/octet-stream"

_LONGEST_SUFFIX: Final = 20
_TOKEN: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # noqa: S105 - RFC 9110's word for it
_CONTENT_TYPE: Final = re.compile(rf'{_TOKEN}/{_TOKEN}(\s*;\s*{_TOKEN}=({_TOKEN}|"[ !#-\[\]-~]*"))*')


def display_name(given: str) -> str:
    """Return the name to show: one printable line of at most 400 characters, its ending kept."""
    name = "".join(character if character.isprintable() else " " for character in given).strip()
    if len(name.encode("utf-16-le")) > 2 * LONGEST_NAME:
        stem, dot, suffix = name.rpartition(".")
        ending = dot + suffix if stem and len(suffix) < _LONGEST_SUFFIX else ""
        name = _cut(name, LONGEST_NAME - len(ending.encode("utf-16-le")) // 2) + ending
    return name.strip() or UNNAMED


def content_type_of(given: str) -> str:
    """Return the content type as it is where it is one, else ``application/octet-stream``."""
    stripped = given.strip()
    if len(stripped) > LONGEST_CONTENT_TYPE or not _CONTENT_TYPE.fullmatch(stripped):
        return UNKNOWN_TYPE
    return stripped


def _cut(text: str, units: int) -> str:
    return text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", "ignore")
