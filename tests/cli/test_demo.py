"""``fluxx demo``: the first thing that anybody runs, on the samples and on files of their own."""

import re
import signal
from pathlib import Path

import httpx
import pytest

from cli.conftest import Inside
from support.commands import FLUXX, Shell
from support.terminal import in_terminal, without_control

DOCUMENTS = Path(__file__).parents[1] / "documents"
ID = "[0-9a-f-]{36}"


def test_the_samples_in_a_pipe(shell: Shell, inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings around it don't bend it, every line is true, and all is there to look at afterwards."""
    home = shell.folder / "home"
    bent = Shell(shell.folder, {"DATABASE_URL": "sqlite:///elsewhere.db", "MAX_POLL_ATTEMPTS": "1"})
    ended = bent.run("demo", "--home", "home")
    text = ended.text
    assert ended.status == 0, text + ended.stderr
    assert "invoice.pdf  text  Queued → Started" in text
    assert re.search(r"invoice\.pdf +tables +Succeeded +\d+ +[\d.]+ s +", text)
    assert "Larkmoor Instruments Ltd" in text
    assert re.search(r"LM-2208 +\| Levelling theodolite", text)
    assert "delivery-note-scan.pdf, text and tables:" in text
    assert "no OCR engine" in text
    assert "4 succeeded" in text
    results = [Path(path) for path in re.findall(rf"\S+/results/{ID}/{ID}/{ID}/result\.json", text)]
    assert len(results) == 4
    assert all(path.stat().st_size > 100 and home in path.parents for path in results)
    assert not (shell.folder / "elsewhere.db").exists()
    monkeypatch.setenv("FLUXX_HOME", str(home))
    assert len(inside.succeed("jobs", "list", "--json").json) == 6
    assert len(inside.succeed("events", "--json").stdout.splitlines()) == 18


@pytest.mark.parametrize("columns", [80, 44])
def test_own_files_in_a_terminal(shell: Shell, columns: int) -> None:
    """A verdict of the extractor on the file is an honest answer; it is said and the exit status is 0."""
    (shell.folder / "empty.pdf").write_bytes(b"")
    words = (FLUXX, "demo", "empty.pdf", DOCUMENTS / "letter.docx", "--home", "home")
    status, written = in_terminal(words, columns=columns, folder=shell.folder, environment=shell.environment)
    shown = without_control(written)
    assert status == 0, shown
    end = shown[shown.rindex("FILE") :]
    assert "The file is empty (0 bytes)." in end
    assert "honest answer" in end
    assert "Traceback" not in shown
    listed = [line for line in end.splitlines() if re.match(r"(FILE|empt|lett)", line)]
    assert len(listed) >= 5
    assert all(len(line) <= columns for line in listed if "/" not in line)
    if columns == 80:
        assert re.search(r"letter\.docx +text +Succeeded", end)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_cut_short_it_leaves_no_process_behind(shell: Shell, number: signal.Signals, status: int) -> None:
    with shell.serving("demo", "--home", "home", until="Fluxx at http://") as demo:
        assert demo.end(number) == status
        assert demo.is_silent, "something that it started still runs"
        assert "Traceback" not in demo.said


def test_kept_it_serves_until_it_is_told_to_stop(shell: Shell) -> None:
    with shell.serving("demo", "--keep", "--home", "home", DOCUMENTS / "letter.docx", until="goes on at") as demo:
        url = demo.line_with("goes on at").split("goes on at ")[1].split()[0]
        assert httpx.get(f"{url}/readyz").status_code == 200
        assert demo.end(signal.SIGINT) == 0
        assert demo.is_silent
