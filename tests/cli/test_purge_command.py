"""``fluxx db purge`` asks before it forgets, but only where somebody can answer."""

from typing import TYPE_CHECKING

import pytest

from support.commands import FLUXX, Shell
from support.terminal import in_terminal

if TYPE_CHECKING:
    from cli.conftest import Inside

QUESTION = "Forget for good what ended more than 90d ago?"
DONE = "Forgot 0 jobs, 0 files and 0 messages."


@pytest.fixture(autouse=True)
def data(inside: "Inside") -> None:
    inside.succeed("db", "migrate")


@pytest.mark.parametrize(("typed", "status"), [(b"y\n", 0), (b"n\n", 130), (b"\x03", 130)])
def test_at_a_terminal_it_is_asked_for(shell: Shell, typed: bytes, status: int) -> None:
    words = (FLUXX, "db", "purge", "--older-than", "90d")
    ended, shown = in_terminal(
        words, columns=100, folder=shell.folder, environment=shell.environment, at="[y/N]: ", typed=typed
    )
    assert ended == status, shown
    assert QUESTION in shown
    assert (DONE in shown) is (status == 0)
    assert "Traceback" not in shown


def test_yes_is_no_question(shell: Shell) -> None:
    words = (FLUXX, "db", "purge", "--older-than", "90d", "--yes")
    ended, shown = in_terminal(words, columns=100, folder=shell.folder, environment=shell.environment)
    assert (ended, shown.strip()) == (0, DONE)


def test_without_a_terminal_nothing_is_asked(shell: Shell) -> None:
    assert shell.run("db", "purge", "--older-than", "90d").text == DONE
