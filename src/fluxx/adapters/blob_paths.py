"""What a blob's path may look like, the same for every blob store."""

import re
from typing import Final

from fluxx.errors import BadInput

LONGEST_PATH: Final = 500
"""Characters: the width of the columns that keep blob paths."""

_PATH: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,199}(/[0-9A-Za-z][0-9A-Za-z._-]{0,199})*")


def checked_path(path: str) -> str:
    """Return ``path`` as it is; raise ``BadInput`` where it isn't relative, plain and inside the store.

    No part begins with a dot: that keeps ``..`` out and the stores' own names apart.
    """
    if len(path) > LONGEST_PATH or not _PATH.fullmatch(path):
        raise BadInput(f"{path[:80]!r} can't be the path of a blob.", field="path", malformed=True)
    return path
