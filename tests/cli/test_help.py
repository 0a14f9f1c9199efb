"""What somebody sees who has never used ``fluxx`` before."""

import subprocess
import sys
from pathlib import Path

import pytest
import typer

from fluxx import __version__
from fluxx.cli.app import app
from support.commands import Shell


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


def test_the_command_tree_loads_nothing_of_what_commands_run_on() -> None:
    heavy = {"asyncio", "logging", "ssl", "sqlalchemy", "aiohttp", "pydantic", "fastapi"}
    words = "import sys, typer, rich; before = {*sys.modules}; import fluxx.cli; print(*{*sys.modules} - before)"
    loaded = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True).stdout.split()
    assert "fluxx.cli.app" in loaded
    assert not heavy & set(loaded)
