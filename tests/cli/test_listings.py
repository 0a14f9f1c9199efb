"""Listings in a terminal and in a pipe: names that others chose, however long, push nothing off the screen."""

import pytest

from fluxx.cli.tables import LONGEST_NAME
from support.commands import FLUXX, Shell
from support.placed_jobs import placed_in
from support.terminal import LINES, in_terminal, without_control

FILE = f"scan-{'0' * 245}.pdf"
EXTRACTOR = f"extractor {'x' * 170} of Hamburg"


@pytest.fixture
def job(shell: Shell) -> str:
    (only,) = placed_in(shell.folder / ".fluxx", (), name=FILE, extractor=EXTRACTOR)
    return only


def at_a_terminal(shell: Shell, columns: int, *words: str, until: str = "", typed: bytes = b"") -> list[str]:
    _, shown = in_terminal(
        (FLUXX, *words), columns=columns, folder=shell.folder, environment=shell.environment, at=until, typed=typed
    )
    return without_control(shown).splitlines()


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_at_a_terminal_every_line_fits(shell: Shell, job: str, columns: int) -> None:
    lines = at_a_terminal(shell, columns, "jobs", "list")
    assert max(map(len, lines)) <= columns
    shown = "\n".join(lines)
    assert job in shown
    assert "Queued" in shown
    for words in (("client", "list"), ("extractor", "list")):
        assert max(map(len, at_a_terminal(shell, columns, *words))) <= columns


def test_in_a_pipe_a_name_is_no_longer_than_names_may_be(shell: Shell, job: str) -> None:
    titles, row = shell.succeed("jobs", "list").text.splitlines()
    assert titles.index("STATUS") == row.index("Queued") == len(f"{job}  ") + 2 * (LONGEST_NAME + 2)
    assert "0.pdf" in row
    assert "of Hamburg" in row


def test_as_json_names_are_whole(shell: Shell, job: str) -> None:
    assert job in shell.succeed("jobs", "list", "--json").text
    (listed,) = shell.succeed("extractor", "list", "--json").json
    assert listed["name"] == EXTRACTOR


@pytest.mark.usefixtures("job")
@pytest.mark.parametrize("columns", [60, 80])
def test_top_fits_and_ends_when_interrupted(shell: Shell, columns: int) -> None:
    lines = at_a_terminal(shell, columns, "top", until="SAYS", typed=b"\x03")
    assert len(lines) <= LINES
    assert max(len(line.replace("^C", "").rstrip()) for line in lines) <= columns
    assert "Traceback" not in "".join(lines)
    assert any(line.startswith("EXTRACTOR  ") for line in lines)
    assert any("extractor x" in line and "\N{HORIZONTAL ELLIPSIS}" in line for line in lines)


@pytest.mark.usefixtures("job")
@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_top_in_a_pipe_is_one_look(shell: Shell, encoding: str) -> None:
    shown = Shell(shell.folder, {"PYTHONIOENCODING": encoding}).succeed("top").stdout.decode()
    assert ("~" in shown) is (encoding == "ascii")
    assert "?" not in shown
    assert "Nothing is wrong." in shown
