"""Two results side by side, leaf by leaf: same, different, missing, numbers that differ. Pure."""

from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation, Overflow
from enum import StrEnum
from typing import Final

import msgspec

from fluxx.dashboard.tree import Literal, Value, leaves, text_of

MOST_SHOWN: Final = 1000
LONGEST: Final = 400
"""Characters of a value that are shown."""


class Verdict(StrEnum):
    """How two leaves at the same place compare."""

    SAME = "same"
    DIFFERENT = "different"
    NUMBER = "number differs"
    ONLY_LEFT = "only left"
    ONLY_RIGHT = "only right"


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One place: the values (None: missing), the verdict, and by how much a number differs."""

    path: str
    left: str | None
    right: str | None
    verdict: Verdict
    difference: str = ""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The places that differ, up to ``MOST_SHOWN``, and how many there are of each verdict."""

    differing: Sequence[Compared]
    counts: dict[Verdict, int]

    @property
    def is_same(self) -> bool:
        """Whether the two say the same, in whatever order."""
        return not any(count for verdict, count in self.counts.items() if verdict is not Verdict.SAME)


def compared(left: Value, right: Value) -> Comparison:
    """Return how two results compare; the order of an object's keys does not matter, an array's does."""
    counts = dict.fromkeys(Verdict, 0)
    differing: list[Compared] = []
    for one in _places(left, right):
        counts[one.verdict] += 1
        if one.verdict is not Verdict.SAME and len(differing) < MOST_SHOWN:
            differing.append(one)
    return Comparison(differing=differing, counts=counts)


def _places(left: Value, right: Value) -> Iterator[Compared]:
    others = dict(leaves(right))
    for path, value in leaves(left):
        if path in others:
            yield _compared(path, value, others.pop(path))
        else:
            yield Compared(path=path, left=_shown(value), right=None, verdict=Verdict.ONLY_LEFT)
    for path, value in others.items():
        yield Compared(path=path, left=None, right=_shown(value), verdict=Verdict.ONLY_RIGHT)


def _compared(path: str, left: Value, right: Value) -> Compared:
    verdict, difference = _verdict(left, right)
    return Compared(path=path, left=_shown(left), right=_shown(right), verdict=verdict, difference=difference)


def _verdict(left: Value, right: Value) -> tuple[Verdict, str]:
    if isinstance(left, Literal) and isinstance(right, Literal):
        first, second = _decimal(left), _decimal(right)
        if first is None or second is None:
            return (Verdict.SAME if left == right else Verdict.NUMBER), ""
        return (Verdict.SAME, "") if first == second else (Verdict.NUMBER, _difference(first, second))
    return (Verdict.SAME if left == right else Verdict.DIFFERENT), ""


def _decimal(number: Literal) -> Decimal | None:
    try:
        value = Decimal(number.text)
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def _difference(first: Decimal, second: Decimal) -> str:
    """Return by how much they differ; nothing where that is more than can be counted."""
    try:
        difference = second - first
        words = f"{difference:+g}"
        return f"{words} ({100 * difference / abs(first):+.2g} %)" if first else words
    except Overflow:
        return ""


def _shown(value: Value) -> str:
    text = text_of(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
