"""What stands in the log, and that nothing depends on somebody reading it."""

import json
import logging
import os
from collections.abc import Callable
from io import StringIO
from typing import TextIO

import pytest

from fluxx.telemetry import JOB_FAILED, JOB_STARTED, Facts, Foreign, logger


def without_a_reader() -> TextIO:
    reading, writing = os.pipe()
    os.close(reading)
    return os.fdopen(writing, "w", buffering=1)


def full() -> TextIO:
    return open("/dev/full", "w", buffering=1)  # noqa: PTH123 - a device; closed with the test's process


@pytest.mark.parametrize("log_format", ["json", "console"])
@pytest.mark.parametrize("stream", [StringIO, without_a_reader, full])
def test_a_log_that_takes_no_lines_costs_no_work(stream: Callable[[], TextIO], log_format: str) -> None:
    lines = stream()
    lost = logger(log_format=log_format, level=logging.INFO, stream=lines)
    if isinstance(lines, StringIO):
        lines.close()
    facts = Facts(lost)
    for _ in range(3):
        facts.tell(JOB_STARTED, job_id=1, message="Submitted")
        facts.tell(JOB_FAILED, job_id=1, message="No", kind="refused", trace=ValueError("why"))
    assert facts.registry.get_sample_value("fluxx_job_started_total") == 3
    Foreign(lost).handle(logging.LogRecord("library", logging.WARNING, "", 0, "odd", None, None))


def test_a_line_a_fact_and_a_library_is_one_of_ours() -> None:
    stream = StringIO()
    log = logger(log_format="json", level=logging.INFO, stream=stream, secrets=["k3y-of-the-vault"])
    Facts(log).tell(JOB_STARTED, job_id=1, message="Submitted")
    Foreign(log).handle(logging.LogRecord("amqp", logging.WARNING, "", 0, "sent %s", ("k3y-of-the-vault",), None))
    ours, theirs = map(json.loads, stream.getvalue().splitlines())
    assert (ours["fact"], ours["level"], ours["job_id"]) == ("job_started", "info", "1")
    assert (theirs["fact"], theirs["library"]) == ("library", "amqp")
    assert "k3y-of-the-vault" not in stream.getvalue()
