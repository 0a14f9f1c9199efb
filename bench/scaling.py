"""Two workers on one PostgreSQL beside one: jobs per second.

Each worker has a core of its own; the extractor and PostgreSQL share the others. Where the machine
has no such cores the figures say little about workers, and the table says so.
"""

import argparse
import statistics
import tempfile
from pathlib import Path

from databases import database
from machine import CORES, OTHER_CORE, cpu_seconds, program, python
from ours import OurWorker
from report import save, table

EXTRACTORS = 3
INTERVAL = 0.2
CORES_NEEDED = 4
"""Two for workers, one for the database, one for the extractor."""


def run(workers: int, files: int) -> dict:
    with (
        tempfile.TemporaryDirectory() as folder,
        database("postgresql", Path(folder)) as base,
        program(python("mock_extractor.py"), core=OTHER_CORE) as mock,
    ):
        url = f"http://127.0.0.1:{int(mock.stdout.readline())}/extract"
        with OurWorker(Path(folder) / "home", base.url, url, extractors=EXTRACTORS, interval=INTERVAL) as ours:
            pids = [ours.pid, *(ours.start(core=CORES[number % len(CORES)]) for number in range(1, workers))]
            before = cpu_seconds(*pids)
            seconds = ours.work(files)
            cpu = cpu_seconds(*pids) - before
            ours.check(files)
    jobs = files * EXTRACTORS
    return {"jobs_per_s": jobs / seconds, "cpu_ms": 1000 * cpu / jobs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=700)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    kept = {1: [], 2: []}
    for _ in range(options.runs):
        for workers, results in kept.items():
            results.append(run(workers, options.files))
    ratios = [two["jobs_per_s"] / one["jobs_per_s"] for one, two in zip(kept[1], kept[2], strict=True)]
    spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
    rows = [
        [
            str(workers),
            f"{statistics.median(one['jobs_per_s'] for one in results):.0f}",
            f"{statistics.median(one['cpu_ms'] for one in results):.2f}",
            spread if workers > 1 else "1",
        ]
        for workers, results in kept.items()
    ]
    table(["workers", "jobs/s", "CPU ms/job", "ratio of jobs/s (spread)"], rows)
    if len(CORES) < CORES_NEEDED:
        print(
            f"This machine has {len(CORES)} cores of the {CORES_NEEDED} it takes: workers share them with all the rest."
        )
    save("scaling", kept)


if __name__ == "__main__":
    main()
