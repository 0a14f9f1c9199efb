"""The command line: the same words as everywhere, through the same code as the API.

``main`` is the console script. Each group of commands is one small file; what a command needs is
imported when it runs, so that ``fluxx --help`` is quick.
"""

import gc
import sys
from collections.abc import Sequence
from typing import Final

from fluxx.cli.app import app
from fluxx.cli.exits import FAILED, confess, ending, say, silence_stdout

MADE_BETWEEN_COLLECTIONS: Final = 100_000
"""Objects, not Python's 700: loading makes half a million that stay, and going over them again and again takes a third
of a command's start. A busy worker has tens of thousands in its hands, none of them garbage: that took a fifth of it.
"""


def main() -> None:
    """Run the command that ``sys.argv`` names, and exit with its status."""
    gc.set_threshold(MADE_BETWEEN_COLLECTIONS)
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # a text stream, as Python opens it
    sys.exit(run(sys.argv[1:]))


def run(words: Sequence[str]) -> int:
    """Run a command and return its exit status (``exits``); what went wrong was said on stderr."""
    try:
        status = app(list(words), prog_name="fluxx", standalone_mode=False) or 0
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
        return FAILED
    except Exception as error:  # noqa: BLE001 - what nobody foresaw is printed too
        known = ending(error)
        if known is None:
            confess(error)
            return FAILED
        say(known[0])
        return known[1]
    return int(status)
