"""``make azure-local`` by hand: what it prints is enough to connect, and Ctrl-C ends it."""

import asyncio
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fluxx.adapters.azure.bus import ServiceBus
from fluxx.settings import Settings

LAST = "EGRESS_ALLOWED_NETWORKS"
END_SECONDS = 20.0


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


async def connect(connection_string: str) -> None:
    settings = Settings.model_construct()
    subscriptions = {settings.topic_accepted_file: [settings.accepted_file_subscription]}
    bus = ServiceBus(
        connection_string=connection_string, sends_to=[settings.topic_job_status], subscriptions=subscriptions
    )
    await bus.check()
    await bus.close()


def test_what_it_prints_is_enough_to_connect(process: "subprocess.Popen[str]") -> None:
    found = exports(process)
    assert found["KEY_VAULT_URL"].startswith("https://127.0.0.1:")
    assert {"APP_CONFIG_CONNECTION_STRING", "IDENTITY_ENDPOINT", "IDENTITY_HEADER", "SSL_CERT_FILE"} <= found.keys()
    asyncio.run(connect(found["SERVICE_BUS_CONNECTION_STRING"]))
    process.send_signal(signal.SIGINT)
    assert process.wait(END_SECONDS) == 0
