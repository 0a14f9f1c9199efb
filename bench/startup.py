"""Starting: ``fluxx --help`` beside the bare import of what it is built on; and ``fluxx up`` until it is ready.

In turn, on one core; medians of RUNS. ``fluxx up`` is timed from nothing (an empty folder, the
database to be made) and again (everything there).
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from machine import WORK_CORE, program, wait_until
from report import save, table

FLUXX = str(Path(sys.executable).with_name("fluxx"))
COMMANDS = {
    "python -c 'import typer, rich'": [sys.executable, "-c", "import typer, rich"],
    "fluxx --help": [FLUXX, "--help"],
}


def timed(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(["taskset", "-c", str(WORK_CORE), *command], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def until_ready(home: Path, log: Path) -> float:
    """Return the seconds from the start of ``fluxx up`` to its word that it is ready."""
    environment = {"FLUXX_HOME": str(home), "LOG_FORMAT": "json"}
    log.write_text("")
    began = time.perf_counter()
    with program([FLUXX, "up", "--port", "0"], core=WORK_CORE, environment=environment, log=log):
        wait_until(lambda: "service_ready" in log.read_text(), bound=60, every=0.005)
        return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    kept = {name: [] for name in (*COMMANDS, "fluxx up, from nothing", "fluxx up, again")}
    for _ in range(options.runs):
        for name, command in COMMANDS.items():
            kept[name].append(timed(command))
        with tempfile.TemporaryDirectory() as folder:
            home, log = Path(folder) / "home", Path(folder) / "log"
            kept["fluxx up, from nothing"].append(until_ready(home, log))
            kept["fluxx up, again"].append(until_ready(home, log))
    floor = next(iter(kept.values()))
    rows = []
    for name, times in kept.items():
        ratios = [one / bare for one, bare in zip(times, floor, strict=True)]
        rows.append([name, f"{1000 * statistics.median(times):.0f}", f"{statistics.median(ratios):.2f}"])
    table(["command", "ms", "ratio"], rows)
    save("startup", kept)


if __name__ == "__main__":
    main()
