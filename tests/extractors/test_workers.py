"""Heavy and harmful files: they take one job with them at most, and never the server."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

from fluxx.extractors.jobs import Bounds
from fluxx.extractors.samples import sample_files
from fluxx.telemetry import EXTRACTION_WORKER_STARTED
from support.extractors import DOCUMENTS, driving

INVOICE = sample_files()[0]


async def test_a_process_that_dies_fails_its_job_only() -> None:
    async with driving("text", workers=2) as driver:
        url = driver.put(INVOICE.read_bytes())
        victim = await driver.submit("text", url)
        [started] = await driver.heard.wait_for(EXTRACTION_WORKER_STARTED)
        other = await driver.submit("text", url)
        os.kill(started["pid"], signal.SIGKILL)  # it is still importing, so the job is certainly under way
        error = (await driver.finished("text", victim))["error"]
        assert error == {"code": "crashed", "message": "The extraction process died over this file (signal 9)."}
        assert "result" in await driver.finished("text", other)
        assert "result" in await driver.extract("text", INVOICE)


async def test_an_idle_process_that_dies_is_replaced_unnoticed() -> None:
    async with driving("text", workers=1) as driver:
        assert "result" in await driver.extract("text", INVOICE)
        [started] = driver.heard.of(EXTRACTION_WORKER_STARTED)
        os.kill(started["pid"], signal.SIGKILL)
        await gone(started["pid"])
        assert "result" in await driver.extract("text", INVOICE)
        assert len(driver.heard.of(EXTRACTION_WORKER_STARTED)) == 2


async def test_a_process_is_used_again() -> None:
    async with driving("text", "tables", workers=1) as driver:
        for kind in ("text", "tables", "text"):
            assert "result" in await driver.extract(kind, INVOICE)
        assert len(driver.heard.of(EXTRACTION_WORKER_STARTED)) == 1


async def test_a_file_that_takes_too_long_is_stopped_and_says_so() -> None:
    async with driving("tables", workers=1, bounds=Bounds(extraction_seconds=0.01)) as driver:
        error = (await driver.extract("tables", DOCUMENTS / "nics-background-checks-2015-11.pdf"))["error"]
        assert error == {"code": "time_limit", "message": "The extraction took longer than 0.01 s and was stopped."}
        [started] = driver.heard.of(EXTRACTION_WORKER_STARTED)
        await gone(started["pid"])


async def test_a_heavy_file_does_not_stall_the_api() -> None:
    async with driving("tables", workers=1) as driver:
        heavy = await driver.submit(
            "tables", driver.put((DOCUMENTS / "nics-background-checks-2015-11.pdf").read_bytes())
        )
        await driver.heard.wait_for(EXTRACTION_WORKER_STARTED)
        for _ in range(20):  # a stalled server would answer only when the job is ready
            assert await (await driver.poll("tables", heavy)).json() == {"isReady": False}
        assert "result" in await driver.finished("tables", heavy)


def test_importing_and_simulating_needs_no_heavy_library() -> None:
    program = "import sys, fluxx.extractors.run; print({'kreuzberg', 'pdfplumber', 'pdfminer'} & set(sys.modules))"
    assert run(program) == "set()"


def test_without_the_extra_one_line_says_what_to_install() -> None:
    program = """
import asyncio, sys
sys.modules["kreuzberg"] = sys.modules["pdfplumber"] = None  # as if they were not installed
from fluxx.errors import Misconfigured
from fluxx.extractors.run import serve
from fluxx.telemetry import Facts
async def main():
    async with serve(["simulator"], facts=Facts()):
        pass
    try:
        async with serve(["text"], facts=Facts()):
            pass
    except Misconfigured as error:
        print(error)
asyncio.run(main())
"""
    assert run(program) == "Needs kreuzberg and pdfplumber; run: pip install 'fluxx[extractors]'"


def run(program: str) -> str:
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    return finished.stdout.strip()


async def gone(pid: int) -> None:
    """Wait until the process has ended and its end was noticed, which takes a few turns of the loop."""
    process = Path(f"/proc/{pid}")
    async with asyncio.timeout(10):
        while await asyncio.to_thread(process.exists):
            pass
