"""``make azure-local`` by hand: what it prints is all that ``fluxx up`` and ``fluxx submit`` need; Ctrl-C ends it."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.commands import Shell

LAST = "EGRESS_ALLOWED_NETWORKS"
END_SECONDS = 20.0
KEY = b"a-made-up-key"


@pytest.fixture
def process() -> "Iterator[subprocess.Popen[str]]":
    command = [sys.executable, "-m", "servers.azure_local"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.terminate()


def exports(process: "subprocess.Popen[str]") -> dict[str, str]:
    found: dict[str, str] = {}
    assert process.stdout is not None
    while LAST not in found:
        word, assignment = shlex.split(process.stdout.readline())
        assert word == "export"
        name, _, value = assignment.partition("=")
        found[name] = value
    return found


def test_what_it_prints_is_enough_for_a_file_to_go_through(process: "subprocess.Popen[str]", tmp_path: Path) -> None:
    found = exports(process)
    assert found["KEY_VAULT_URL"].startswith("https://127.0.0.1:")
    assert {"APP_CONFIG_CONNECTION_STRING", "IDENTITY_ENDPOINT", "IDENTITY_HEADER", "SSL_CERT_FILE"} <= found.keys()
    (tmp_path / "key").write_bytes(KEY)
    (tmp_path / "invoice.pdf").write_bytes(b"%PDF-1.7 made up")
    shell = Shell(tmp_path, found)
    client = shell.succeed("client", "add", "Archive").text
    simulator = ("simulate", "--port", 0, "--latency", 0, "--key-file", "key")
    with (
        shell.serving("up", "--port", 0, until="Ready at http://") as up,
        shell.serving(*simulator, until="/simulator/jobs") as serving,
    ):
        extractor = ("--name", "ocr", "--url", serving.line_with("/simulator/jobs"), "--key-file", "key")
        shell.succeed("extractor", "add", "--client-application", client, *extractor)
        submitted = shell.succeed("submit", "invoice.pdf", "--client-application", client, "--wait", "--json").json
        (job,) = submitted["jobs"]
        assert job["status"] == "Succeeded"
        with shell.serving("events", "--follow", "--job", job["jobId"], until="JobSucceeded") as events:
            assert [name for name in ("JobQueued", "JobStarted") if name in events.said] == ["JobQueued", "JobStarted"]
        assert up.end() == 0
    kept = {path.name for path in (tmp_path / ".fluxx").iterdir()}
    assert not kept & {"blobs", "secrets"}, "what Azure keeps, nobody else does"
    process.send_signal(signal.SIGINT)
    assert process.wait(END_SECONDS) == 0
