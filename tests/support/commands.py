"""The real ``fluxx`` in child processes: run to its end, or in the foreground until the test is done with it."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from fluxx.settings import Settings

FLUXX = Path(sys.executable).with_name("fluxx")
BOUND = 120.0
"""Seconds: the longest that any command may take, on a machine that is busy with other things."""


class Ended(msgspec.Struct, frozen=True):
    """How a command ended."""

    status: int
    stdout: bytes
    stderr: str

    @property
    def text(self) -> str:
        """What it printed, without the line end."""
        return self.stdout.decode().rstrip("\n")

    @property
    def json(self) -> Any:
        """What it printed, as JSON."""
        return msgspec.json.decode(self.stdout)

    @property
    def complaint(self) -> str:
        """The one line that it said on stderr, and nothing else."""
        assert self.stdout == b"", self.stdout
        lines = self.stderr.splitlines()
        assert len(lines) == 1, self.stderr
        return lines[0]


class Shell(msgspec.Struct, frozen=True):
    """A folder to be in, and settings in the environment; nothing comes from outside."""

    folder: Path
    settings: Mapping[str, str] = {}

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a command."""
        names = {name.upper() for name in Settings.model_fields}
        outside = {name: value for name, value in os.environ.items() if name.upper() not in names}
        return outside | {"COLUMNS": "80"} | dict(self.settings)

    def run(self, *words: object, stdin: bytes = b"") -> Ended:
        """Run a command to its end."""
        done = subprocess.run(
            [FLUXX, *map(str, words)],
            cwd=self.folder,
            env=self.environment,
            input=stdin,
            capture_output=True,
            timeout=BOUND,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr.decode())

    def succeed(self, *words: object, stdin: bytes = b"") -> Ended:
        """Run a command that must succeed."""
        ended = self.run(*words, stdin=stdin)
        assert ended.status == 0, ended.stderr
        return ended

    @contextmanager
    def serving(self, *words: object, until: str) -> "Iterator[Serving]":
        """Run a command in the foreground; the block begins when it has said ``until``."""
        process = subprocess.Popen(
            [FLUXX, *map(str, words)],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # a signal for the tests' own terminal is none for this command
        )
        served = Serving(process)
        try:
            yield served.once_said(until)
        finally:
            served.kill()


class Serving:
    """A command that goes on; all that it says is kept."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._lines: list[str] = []
        self._news = threading.Condition()
        self._open_streams = 2
        self._listeners = [
            threading.Thread(target=self._listen, args=(stream,), daemon=True)
            for stream in (process.stdout, process.stderr)
        ]
        for listener in self._listeners:
            listener.start()

    @property
    def pid(self) -> int:
        """The command's process id."""
        return self._process.pid

    def line_with(self, words: str) -> str:
        """Return the first line with these words, once it was said."""
        with self._news:
            self._news.wait_for(lambda: self._found(words) is not None or not self._open_streams, BOUND)
        line = self._found(words)
        assert line is not None, self.said
        return line

    def once_said(self, words: str) -> "Serving":
        """Return itself, once these words were said."""
        self.line_with(words)
        return self

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and return the exit status."""
        self._process.send_signal(number)
        status = self._process.wait(BOUND)
        for listener in self._listeners:
            listener.join(BOUND)
        return status

    def kill(self) -> None:
        """End it, if it still runs, without asking."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(BOUND)
        for listener in self._listeners:
            listener.join(BOUND)

    @property
    def is_silent(self) -> bool:
        """Whether nobody is left who could say something: neither the command nor what it started."""
        return self._open_streams == 0

    @property
    def said(self) -> str:
        """All that it said so far."""
        return "".join(self._lines)

    def _found(self, words: str) -> str | None:
        return next((line.rstrip("\n") for line in list(self._lines) if words in line), None)

    def _listen(self, stream: Any) -> None:
        with stream:
            for line in stream:
                with self._news:
                    self._lines.append(line)
                    self._news.notify_all()
        with self._news:
            self._open_streams -= 1
            self._news.notify_all()
