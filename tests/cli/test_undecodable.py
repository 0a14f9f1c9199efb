"""Bytes that aren't text, wherever a command takes a word: one line on stderr, exit status 2, no traceback.

Python hands such bytes on as lone surrogates, which nothing can encode: not a database, not JSON.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer

from fluxx.cli.app import app
from support.commands import FLUXX, Shell
from support.terminal import in_terminal

if TYPE_CHECKING:
    from cli.conftest import Inside

BAD = os.fsdecode(b"bad \xff bytes")
NOBODY = "01990b6e-2f3c-7d41-9a55-0c2c8f6e1b7a"
FITTING = {"name": "x", "role": "read", "url": "https://ocr.example/jobs", "older_than": "90d", "files": "file.txt"}
"""What a parameter is given while another one is tried; ids are nobody's."""


def _takers(command: Any, *path: str) -> Iterator[tuple[Any, Any, tuple[str, ...]]]:
    """Find every option and argument that takes a word, of every command."""
    for name, below in getattr(command, "commands", {}).items():
        yield from _takers(below, *path, name)
    for parameter in command.params:
        if not getattr(parameter, "is_flag", False):
            yield command, parameter, path


def _words(parameter: Any, word: str) -> list[str]:
    return [word] if parameter.param_type_name == "argument" else [parameter.opts[0], word]


def _every_word() -> Iterator[Any]:
    for command, tried, path in _takers(typer.main.get_command(app)):
        words = [*path]
        for parameter in command.params:
            if parameter is tried:
                words += _words(parameter, BAD)
            elif parameter.required:
                words += _words(parameter, FITTING.get(parameter.name, NOBODY))
        yield pytest.param(words, id=" ".join([*path, tried.name]))


@pytest.fixture(autouse=True)
def a_file(tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("a file")


@pytest.mark.parametrize("words", [*_every_word()])
def test_no_option_and_no_argument_breaks(inside: "Inside", words: list[str]) -> None:
    ended = inside.run(*words)
    assert ended.stderr.splitlines()[-1].startswith("fluxx: "), ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.status == 2


def test_a_file_of_such_a_name_is_handed_in_shown_and_written(inside: "Inside") -> None:
    (inside.folder / f"{BAD}.txt").write_text("a file")
    client = inside.succeed("client", "add", "Invoices").text
    submitted = inside.succeed("submit", f"{BAD}.txt", "--client-application", client, "--json")
    assert submitted.json["fileName"].startswith("bad")
    (inside.folder / BAD).write_bytes(b"a\xff key")
    assert "not text" in inside.run("key", "set", NOBODY, "--key-file", BAD).complaint


def test_such_an_answer_to_a_question_is_no_yes(shell: Shell) -> None:
    status, shown = in_terminal(
        (FLUXX, "db", "purge", "--older-than", "90d"),
        columns=80, folder=shell.folder, environment=shell.environment, at="[y/N]: ", typed=b"y\xff\n\x04",
    )  # fmt: skip
    assert "Traceback" not in shown
    assert status != 0
