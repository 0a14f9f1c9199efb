"""A result as a tree: JSON read so that it is shown as it was sent, numbers to the digit; with search. Pure."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

import msgspec

LARGEST: Final = 8 * 2**20
"""Bytes of a result that are read for showing; larger ones are downloaded."""

MOST_NODES: Final = 3000
"""Leaves and branches shown; a search finds those beyond."""

MOST_FOUND: Final = 200
DEEPEST: Final = 60
OPEN_LEVELS: Final = 2


_PLAIN: Final = re.compile(r"[^\W\d]\w*")
"""A key that stands in a path as it is."""


class Literal(msgspec.Struct, frozen=True):
    """A number as it was written."""

    text: str

    def __str__(self) -> str:
        """Return it as it was written."""
        return self.text


Value: TypeAlias = Any


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a result. ``kind`` is object, array, text, number or word; ``children`` None for a leaf."""

    key: str
    kind: str
    text: str
    children: Sequence["Node"] | None = None
    is_open: bool = False
    left_out: int = 0


class Found(msgspec.Struct, frozen=True):
    """A place where a search hit: the path to it, and the value."""

    path: str
    text: str


def read(body: bytes) -> Value:
    """Return the JSON in ``body``; raise ``ValueError`` where it is none."""
    try:
        return json.loads(body, parse_float=Literal, parse_int=Literal, parse_constant=Literal)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def tree_of(value: Value) -> Node:
    """Return the value's tree, cut after ``MOST_NODES`` parts."""
    return _Growing().node("", value, 0)


class _Growing:
    def __init__(self) -> None:
        self._left = MOST_NODES

    def node(self, key: str, value: Value, depth: int) -> Node:
        self._left -= 1
        items = _items(value)
        if not items or depth > DEEPEST:
            return Node(key=key, kind=_kind(value), text="nested too deeply" if items else text_of(value))
        children = []
        for name, child in items:
            if self._left <= 0:
                break
            children.append(self.node(name, child, depth + 1))
        return Node(
            key=key,
            kind=_kind(value),
            text=_summary(value),
            children=children,
            is_open=depth < OPEN_LEVELS,
            left_out=len(value) - len(children),
        )


def search(value: Value, words: str) -> Sequence[Found]:
    """Return where ``words`` stand, in a key or a value, whatever their case."""
    wanted = words.casefold()
    found = []
    for path, leaf in leaves(value):
        text = text_of(leaf)
        if wanted in text.casefold() or wanted in path.casefold():
            found.append(Found(path, text))
            if len(found) == MOST_FOUND:
                break
    return found


def leaves(value: Value, path: str = "") -> Iterator[tuple[str, Value]]:
    """Yield each leaf with the path to it (``pages[2].text``), in the order of the document; no two are the same."""
    waiting = [(path, value)]
    while waiting:
        place, current = waiting.pop()
        items = _items(current)
        if not items:
            yield place, current
            continue
        inner = [(_joined(place, name, isinstance(current, list)), child) for name, child in items]
        waiting.extend(reversed(inner))


def _items(value: Value) -> Sequence[tuple[str, Value]] | None:
    if isinstance(value, dict):
        return [*value.items()]
    if isinstance(value, list):
        return [(str(place), child) for place, child in enumerate(value)]
    return None


def _joined(path: str, name: str, is_array: bool) -> str:  # noqa: FBT001 - a fact about the parent, told by position
    if is_array:
        return f"{path}[{name}]"
    if not _PLAIN.fullmatch(name):
        return f"{path}[{json.dumps(name, ensure_ascii=False)}]"
    return f"{path}.{name}" if path else name


def _kind(value: Value) -> str:
    match value:
        case dict():
            return "object"
        case list():
            return "array"
        case str():
            return "text"
        case Literal():
            return "number"
        case _:
            return "word"


def text_of(value: Value) -> str:
    """Return a leaf as it was written, a text without its quotes."""
    match value:
        case str():
            return value
        case Literal():
            return value.text
        case dict() | list():
            return "{}" if isinstance(value, dict) else "[]"
        case _:
            return json.dumps(value)


def _summary(value: Value) -> str:
    word = "field" if isinstance(value, dict) else "item"
    return f"{len(value)} {word}{'' if len(value) == 1 else 's'}"
