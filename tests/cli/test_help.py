"""What somebody sees who has never used ``fluxx`` before."""

import resource
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from fluxx import __version__
from fluxx.cli.app import app
from support.commands import FLUXX, Shell

QUICK = 1.5
"""The start-up of ``fluxx --help`` as a multiple of importing typer and rich (the promise of issue 6)."""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_the_version_is_the_packages(shell: Shell) -> None:
    assert shell.succeed("--version").text == f"fluxx {__version__}"


@pytest.mark.parametrize("words", [(), ("--help",)])
def test_help_names_every_command(shell: Shell, words: tuple[str, ...]) -> None:
    shown = shell.succeed(*words).text
    for name in typer.main.get_command(app).commands:  # type: ignore[attr-defined]  # a group has commands
        assert f"\n  {name} " in shown
    assert "..." not in shown.partition("Commands:")[2], "a command's first sentence is too long to be shown"


def test_a_group_named_alone_shows_its_help(shell: Shell) -> None:
    assert "Commands:" in shell.succeed("jobs").text
    assert not list(shell.folder.iterdir()), "asking for help leaves nothing behind"


def test_help_is_quick() -> None:
    """CPU time, not wall time: other processes may be busy."""
    pairs = [(_cpu(str(FLUXX), "--help"), _cpu(sys.executable, "-c", "import typer, rich")) for _ in range(15)]
    ratio = statistics.median(ours / bare for ours, bare in pairs)
    assert ratio < QUICK, f"fluxx --help takes {ratio:.2f} times a bare import of typer and rich"


def _cpu(*command: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
