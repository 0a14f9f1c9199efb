"""The README's five minutes are what a newcomer does, so they are done here to the letter, on other ports."""

import os
import re
import socket
import subprocess
from collections.abc import Iterator

import msgspec
import pytest

from fluxx.messages import job_status
from support.commands import BOUND, FLUXX, Shell
from support.generated import ROOT

README = (ROOT / "README.md").read_text("utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
SHELL = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)


@pytest.fixture
def extractor(shell: Shell) -> Iterator[int]:
    """The README's own extractor on a free port."""
    port = _free_port()
    program = shell.folder / "my_extractor.py"
    program.write_text(PYTHON[0].replace("9000", str(port)))
    assert SHELL[0] == "python3 my_extractor.py\n"
    process = subprocess.Popen(["python3", program], stderr=subprocess.DEVNULL)
    try:
        yield port
    finally:
        process.kill()
        process.wait(BOUND)


def test_the_five_minutes(shell: Shell, extractor: int) -> None:
    setting, command = SHELL[1].splitlines()
    assert command == "fluxx up"
    subprocess.run(["bash", "-c", setting], cwd=shell.folder, check=True)
    serving = Shell(shell.folder, {"POLL_INTERVAL_SECONDS": "0.2"})
    with serving.serving("up", "--port", 0, until="Ready at http://") as up:
        port = up.line_with("Ready at http://").split("Ready at ")[1].split()[0].rpartition(":")[2]
        script = "".join(["set -eu\n", *SHELL[2:6]]).replace("9000", str(extractor)).replace("8080", port)
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=shell.folder,
            env=shell.environment | {"PATH": f"{FLUXX.parent}{os.pathsep}{os.environ['PATH']}"},
            capture_output=True,
            timeout=BOUND,
            check=False,
        )
    assert done.returncode == 0, done.stderr.decode()
    printed = done.stdout.decode()
    assert '{"words": 4, "lines": 1}' in printed
    assert '`{"words": 4, "lines": 1}`' in README
    events = [job_status.decode(line.encode()) for line in printed.splitlines() if '"specversion"' in line]
    assert len(events) == 3
    registered = msgspec.json.decode(re.search(r'\{"clientApplicationExtractorId".*?\}', printed)[0])  # type: ignore[index]
    assert registered["name"] == "words"
    assert len(re.findall("note.txt  words  .*Succeeded", printed)) == 1, "submit --wait follows the job to its end"


def test_every_path_that_the_readme_links_to_is_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)", README):
        assert (ROOT / target).exists(), target


def test_every_command_that_the_readme_names_exists() -> None:
    named = set(re.findall(r"`(?:\S+=\S+ )?fluxx ([a-z]+(?: [a-z]+)?)", README))
    pages = (ROOT / "docs" / "cli.md").read_text("utf-8")
    for words in named:
        assert f"## fluxx {words}\n" in pages, words


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
