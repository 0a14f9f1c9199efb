"""How much work a call is, counted and not timed: calls, and the characters of the strings whose methods are called."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def work_of(call: Callable[[], object]) -> int:
    """Make the call, and return what it counts."""
    total = 0

    def count(_frame: FrameType, event: str, called: Any) -> None:
        nonlocal total
        if event in ("call", "c_call"):
            owner = getattr(called, "__self__", None)
            total += 1 + (len(owner) if isinstance(owner, str) else 0)

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(before)
    return total
