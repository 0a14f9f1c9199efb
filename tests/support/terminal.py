"""A terminal of a given width, for what looks different there than in a pipe."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from pathlib import Path

from support.commands import BOUND

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
LINES = 40
LOOKS = 5
BETWEEN_LOOKS = 0.02


def in_terminal(
    command: Sequence[object],
    *,
    columns: int,
    folder: Path,
    environment: dict[str, str],
    at: str = "",
    typed: bytes = b"",
) -> tuple[int, str]:
    """Run a command in a terminal; return its exit status and all that was written, control sequences included.

    ``typed`` is typed once ``at`` was written and the command waits: a Ctrl-C just before it waits is noticed
    by Python only with the next key.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, columns, 0, 0))
    plain = {name: value for name, value in environment.items() if name not in {"COLUMNS", "LINES", "NO_COLOR"}}
    process = subprocess.Popen(
        ["setsid", "--ctty", "--wait", *(str(word) for word in command)],
        cwd=folder,
        env=plain | {"TERM": "xterm-256color"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    written = _all_written(ours, process.pid, at.encode(), typed)
    os.close(ours)
    return process.wait(BOUND), written.decode(errors="replace").replace("\r\n", "\n")


def without_control(text: str) -> str:
    """Return the text without colours and cursor movements."""
    return _CONTROL.sub("", text)


def _all_written(terminal: int, process: int, at: bytes, typed: bytes) -> bytes:
    written = b""
    while True:
        assert select.select([terminal], [], [], BOUND)[0], f"nothing more was written: {written!r}"
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # how a terminal says that nobody writes any more
            piece = b""
        if not piece:
            return written
        written += piece
        if typed and at in written:
            _until_it_sleeps(process)
            os.write(terminal, typed)
            typed = b""


def _until_it_sleeps(process: int) -> None:
    """Wait until the process was found doing nothing several times in a row."""
    asleep, ends = 0, time.monotonic() + BOUND
    while asleep < LOOKS:
        assert time.monotonic() < ends, f"it still works after {BOUND} s"
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        asleep = asleep + 1 if state == "S" else 0
        time.sleep(BETWEEN_LOOKS)
