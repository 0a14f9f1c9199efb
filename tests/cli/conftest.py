"""Two ways to give a command: to the real binary in a child process, or, far quicker, inside this one."""

from pathlib import Path

import pytest

from fluxx import cli
from fluxx.settings import Settings
from support.commands import Ended, Shell


class Inside:
    """Runs commands in this process, in a folder of their own."""

    def __init__(self, folder: Path, output: pytest.CaptureFixture[bytes]) -> None:
        self.folder = folder
        self._output = output

    def run(self, *words: object) -> Ended:
        """Run a command to its end."""
        self._output.readouterr()
        status = cli.run([str(word) for word in words])
        said = self._output.readouterr()
        return Ended(status, said.out, said.err.decode())

    def succeed(self, *words: object) -> Ended:
        """Run a command that must succeed."""
        ended = self.run(*words)
        assert ended.status == 0, ended.stderr
        return ended


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """The real binary."""
    return Shell(tmp_path)


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Inside:
    """The same commands, without the second that a new Python takes to load them."""
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    return Inside(tmp_path, capfdbinary)
