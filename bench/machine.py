"""What a benchmark needs of the machine: cores, processes, their CPU time and memory."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

HERE = Path(__file__).parent
TICKS = os.sysconf("SC_CLK_TCK")
CORES = sorted(os.sched_getaffinity(0))
WORK_CORE, OTHER_CORE = CORES[0], CORES[-1]


@contextlib.contextmanager
def program(
    command: Sequence[str], *, core: int | None, environment: dict[str, str] | None = None, log: Path | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Run a child on one core until the block ends; it is ended by SIGTERM, then by SIGKILL."""
    with (log or Path(os.devnull)).open("a") as errors:
        child = subprocess.Popen(
            command,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            preexec_fn=None if core is None else partial(os.sched_setaffinity, 0, {core}),  # noqa: PLW1509 - one system call, no threads yet
        )
        try:
            yield child
        finally:
            child.send_signal(signal.SIGTERM)
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def python(script: str, *arguments: str) -> list[str]:
    """Return the command that runs one of this folder's programs."""
    return [sys.executable, str(HERE / script), *arguments]


def cpu_seconds(*pids: int) -> float:
    """User and system time so far of the processes and their ended children, by the system's accounting."""
    total = 0.0
    for pid in pids:
        with contextlib.suppress(FileNotFoundError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += sum(int(field) for field in fields[11:15]) / TICKS
    return total


def family(pid: int) -> list[int]:
    """The process and all its descendants (a database server forks)."""
    found = [pid]
    for parent in found:
        with contextlib.suppress(FileNotFoundError):
            for task in Path(f"/proc/{parent}/task").iterdir():
                found.extend(int(child) for child in (task / "children").read_text().split())
    return found


def peak_memory(pid: int) -> int:
    """The largest resident set (bytes) that the process ever had."""
    return _memory(pid, "VmHWM:")


def memory(pid: int) -> int:
    """The process's resident set (bytes) now."""
    return _memory(pid, "VmRSS:")


def _memory(pid: int, field: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def wait_until(done: Callable[[], bool], *, bound: float, every: float = 0.05) -> float:
    """Return the seconds until ``done()`` holds."""
    began = time.monotonic()
    while not done():
        if time.monotonic() - began > bound:
            raise TimeoutError(f"not done within {bound:g} s")
        time.sleep(every)
    return time.monotonic() - began
