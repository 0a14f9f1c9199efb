"""A large result by URL: the memory it takes beyond the worker's own, and its speed beside a plain streamed copy.

Memory is the worker's highest resident set afterwards, less what it was before. Ours is timed from
the job's start to its end as its row tells (one poll, the copy, the hash, the disk, the commit), the
plain copy from its first step to the last; in turn, on the same core, onto the same disk.
"""

import argparse
import statistics
import subprocess
import tempfile
from pathlib import Path

from databases import database
from machine import OTHER_CORE, WORK_CORE, memory, peak_memory, program, python
from ours import OurWorker
from report import save, table

INTERVAL = 0.1


def run_copy(megabytes: int) -> dict:
    with (
        tempfile.TemporaryDirectory() as folder,
        program(python("large_extractor.py", str(megabytes)), core=OTHER_CORE) as extractor,
    ):
        target, port = Path(folder) / "copy", int(extractor.stdout.readline())
        command = [
            "taskset",
            "-c",
            str(WORK_CORE),
            *python("floor_copy.py", f"http://127.0.0.1:{port}/result", str(target)),
        ]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        assert target.stat().st_size == megabytes * 2**20
        return {"mb_per_s": megabytes / float(done.stdout)}


def run_ours(megabytes: int) -> dict:
    with (
        tempfile.TemporaryDirectory() as folder,
        database("sqlite", Path(folder)) as base,
        program(python("large_extractor.py", str(megabytes)), core=OTHER_CORE) as extractor,
    ):
        url, home = f"http://127.0.0.1:{int(extractor.stdout.readline())}/extract", Path(folder) / "home"
        with OurWorker(home, base.url, url, extractors=1, interval=INTERVAL) as ours:
            before = memory(ours.pid)
            ours.work(1)
            extra = peak_memory(ours.pid) - before
            (seconds, size), *_ = ours.results()
        assert size == megabytes * 2**20
        return {"mb_per_s": megabytes / (seconds - INTERVAL), "extra_mb": extra / 2**20}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    kept = {"copy": [], "fluxx": []}
    for _ in range(options.runs):
        kept["copy"].append(run_copy(options.megabytes))
        kept["fluxx"].append(run_ours(options.megabytes))
    ratios = [ours["mb_per_s"] / copy["mb_per_s"] for copy, ours in zip(kept["copy"], kept["fluxx"], strict=True)]
    speeds = {name: statistics.median(one["mb_per_s"] for one in runs) for name, runs in kept.items()}
    extra = statistics.median(one["extra_mb"] for one in kept["fluxx"])
    spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
    rows = [
        ["plain copy", f"{speeds['copy']:.0f}", "1", ""],
        ["fluxx", f"{speeds['fluxx']:.0f}", spread, f"{extra:.0f}"],
    ]
    table(["program", "MB/s", "ratio of speed (spread)", "extra memory MB"], rows)
    save("large-result", kept)


if __name__ == "__main__":
    main()
