"""Bad input: one line on stderr, exit status 2, no traceback, and nothing done."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.commands import Shell

if TYPE_CHECKING:
    from cli.conftest import Inside

NOBODY = "01990b6e-2f3c-7d41-9a55-0c2c8f6e1b7a"


@pytest.fixture(autouse=True)
def a_file(tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("a file")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("nosuch", "No such command 'nosuch'"),
        ("job list", "Did you mean 'jobs'"),
        ("jobs nosuch", "No such command 'nosuch'. Try 'fluxx jobs --help'"),
        ("jobs list --nosuch", "No such option: --nosuch"),
        ("jobs list --limit 0", "'--limit'"),
        ("jobs list --status Done", "'Done' is not one of"),
        ("jobs show", "Missing argument 'JOB'"),
        ("jobs show not-a-uuid", "valid UUID"),
        ("jobs watch", "Missing argument"),
        ("result 123", "valid UUID"),
        ("events --job 1", "valid UUID"),
        (f"events --dead --job {NOBODY}", "--dead and --job"),
        (f"submit missing.pdf --client-application {NOBODY}", "'missing.pdf' does not exist"),
        (f"submit . --client-application {NOBODY}", "is a directory"),
        ("submit file.txt", "Missing option"),
        ("demo missing.pdf", "'missing.pdf' does not exist"),
        ("demo --home .", "is not empty"),
        ("demo --home file.txt", "file.txt: File exists"),
        (f"extractor change {NOBODY}", "nothing to change"),
        ("extractor serve nosuch", "'nosuch'"),
        ("simulate --failure-rate 2", "--failure-rate"),
        ("simulate --latency 5 --latency-max 1", "latency"),
        ("up --port 70000", "--port"),
        ("db purge --older-than soon", "'soon' is no age"),
        ("db purge", "Missing option"),
    ],
)
def test_words_that_make_no_sense(inside: "Inside", words: str, says: str) -> None:
    ended = inside.run(*words.split())
    assert says in ended.complaint
    assert ended.complaint.startswith("fluxx: ")
    assert ended.status == 2
    assert not (inside.folder / ".fluxx").exists()


@pytest.mark.parametrize(
    "words",
    [
        f"jobs show {NOBODY}",
        f"jobs watch {NOBODY}",
        f"jobs cancel {NOBODY}",
        f"jobs retry {NOBODY}",
        f"result {NOBODY}",
        f"events --job {NOBODY}",
        f"events --follow --job {NOBODY}",
        f"why {NOBODY}",
        f"submit file.txt --client-application {NOBODY}",
        f"extractor add --client-application {NOBODY} --name ocr --url https://ocr.example/jobs",
        f"extractor deactivate {NOBODY}",
        f"key set {NOBODY} --key-file file.txt",
        f"key delete {NOBODY}",
    ],
)
def test_things_that_do_not_exist(inside: "Inside", words: str) -> None:
    inside.succeed("db", "migrate")
    ended = inside.run(*words.split())
    assert NOBODY in ended.complaint
    assert ended.status == 2


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("MAX_POLL_ATTEMPTS", "many", "MAX_POLL_ATTEMPTS"),
        ("POLL_INTERVAL_SECONDS", "-1", "POLL_INTERVAL_SECONDS"),
        ("POLL_MAX_INTERVAL_SECONDS", "0.5", "POLL_MAX_INTERVAL_SECONDS must not be less"),
        ("EGRESS_ALLOWED_NETWORKS", "10.0.0.0/99", "EGRESS_ALLOWED_NETWORKS"),
        ("LOG_LEVEL", "loud", "LOG_LEVEL"),
        ("DATABASE_URL", "nonsense", "DATABASE_URL"),
        ("FLUXX_HOME", "file.txt", "FLUXX_HOME"),
        ("FLUXX_HOME", "/dev/null/home", "FLUXX_HOME"),
    ],
)
@pytest.mark.parametrize("words", ["up --port 0", "client list", "db info"])
def test_settings_that_make_no_sense(
    inside: "Inside", monkeypatch: pytest.MonkeyPatch, words: str, name: str, value: str, says: str
) -> None:
    monkeypatch.setenv(name, value)
    ended = inside.run(*words.split())
    assert says in ended.complaint
    assert ended.status == 2


@pytest.mark.parametrize("words", ["up", "simulate", "serve jobs"])
def test_a_port_in_use(inside: "Inside", words: str) -> None:
    with _taken_port() as port:
        ended = inside.run(*words.split(), "--port", port)
    assert str(port) in ended.complaint
    assert "in use" in ended.complaint
    assert ended.status == 2


def test_a_key_file_that_is_missing(inside: "Inside") -> None:
    assert "nowhere.key: No such file" in inside.run("key", "set", NOBODY, "--key-file", "nowhere.key").complaint


@pytest.mark.parametrize(("stdin", "says"), [(b"\n", "empty"), (b"\xff\xfe", "not text")])
def test_a_key_that_is_none(shell: Shell, stdin: bytes, says: str) -> None:
    ended = shell.run("key", "set", NOBODY, stdin=stdin)
    assert says in ended.complaint
    assert ended.status == 2


def test_an_escape_sequence_is_shown_and_not_obeyed(shell: Shell) -> None:
    complaint = shell.run("nosuch\x1b[2J").complaint
    assert "\x1b" not in complaint
    assert "nosuch" in complaint


@contextmanager
def _taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]
