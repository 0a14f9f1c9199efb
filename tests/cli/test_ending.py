"""How what runs in the foreground ends: asked politely, interrupted, or with nobody left to read."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from support.commands import BOUND, FLUXX, Shell

READY = "Ready at http://"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_up_drains_and_exits_0(shell: Shell, number: signal.Signals) -> None:
    with shell.serving("up", "--port", 0, until=READY) as up:
        assert up.end(number) == 0
        assert "Stopped" in up.said
        assert "Traceback" not in up.said


def test_a_log_for_programs_holds_nothing_else(tmp_path: Path) -> None:
    with Shell(tmp_path, {"LOG_FORMAT": "json"}).serving("up", "--port", 0, until="service_ready") as up:
        assert up.end() == 0
    facts = [json.loads(line)["fact"] for line in up.said.splitlines()]
    assert facts[0] == "service_ready"


def test_a_quiet_log_still_says_where_it_is(tmp_path: Path) -> None:
    with Shell(tmp_path, {"LOG_LEVEL": "error"}).serving("up", "--port", 0, until=READY) as up:
        assert up.end() == 0


@pytest.mark.parametrize("words", [("worker",), ("serve", "jobs", "--port", 0)])
def test_a_role_alone(tmp_path: Path, words: tuple[object, ...]) -> None:
    with Shell(tmp_path, {"PUBLIC_URL": "http://files.example"}).serving(*words, until="Ready at ") as part:
        assert part.end() == 0


def test_an_extractor_ends_when_asked(shell: Shell) -> None:
    with shell.serving("simulate", "--port", 0, until="/simulator/jobs") as simulator:
        assert simulator.end(signal.SIGINT) == 0
    with shell.serving("extractor", "serve", "--port", 0, until="/tables/jobs") as extractors:
        assert extractors.line_with("/text/jobs").startswith("http://127.0.0.1:")
        assert extractors.end() == 0


def test_a_pipe_that_nobody_reads_is_no_drama(shell: Shell) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [FLUXX, "config"], cwd=shell.folder, env=shell.environment, stdout=writing, stderr=subprocess.PIPE,
            timeout=BOUND, check=False,
        )  # fmt: skip
    finally:
        os.close(writing)
    assert done.stderr == b""
    assert done.returncode == 1
