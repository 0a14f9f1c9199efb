"""Throughput: CPU per job and jobs per second, ours beside the floor, on SQLite and PostgreSQL.

The same work for both: FILES files times EXTRACTORS extractors; per job queued, POST, started, two polls
not ready, one ready with 4 KB, result file, all states and events durable. The worker has one core, the
extractor (and PostgreSQL) the other. Run in turn; medians of RUNS; the ratio is what counts.
"""

import argparse
import json
import statistics
import tempfile
from pathlib import Path

from databases import database
from machine import OTHER_CORE, WORK_CORE, cpu_seconds, program, python
from ours import OurWorker
from report import save, table

EXTRACTORS = 3
INTERVAL = 0.2


def run_floor(kind: str, files: int) -> dict:
    with (
        tempfile.TemporaryDirectory() as folder,
        database(kind, Path(folder)) as base,
        program(python("mock_extractor.py"), core=OTHER_CORE) as mock,
    ):
        url = f"http://127.0.0.1:{int(mock.stdout.readline())}/extract"
        arguments = [url, base.url, str(files), str(EXTRACTORS), str(INTERVAL), folder]
        with program(python("floor.py", *arguments), core=WORK_CORE) as floor:
            assert floor.stdout.readline() == "ready\n"
            before, database_before = cpu_seconds(floor.pid), cpu_seconds(*base.pids())
            floor.stdin.write("go\n")
            floor.stdin.flush()
            done = json.loads(floor.stdout.readline())
            cpu, database_cpu = cpu_seconds(floor.pid) - before, cpu_seconds(*base.pids()) - database_before
        return figures(done["jobs"], done["seconds"], cpu, database_cpu)


def run_ours(kind: str, files: int) -> dict:
    with (
        tempfile.TemporaryDirectory() as folder,
        database(kind, Path(folder)) as base,
        program(python("mock_extractor.py"), core=OTHER_CORE) as mock,
    ):
        url = f"http://127.0.0.1:{int(mock.stdout.readline())}/extract"
        with OurWorker(Path(folder) / "home", base.url, url, extractors=EXTRACTORS, interval=INTERVAL) as ours:
            before, database_before = cpu_seconds(ours.pid), cpu_seconds(*base.pids())
            seconds = ours.work(files)
            cpu, database_cpu = cpu_seconds(ours.pid) - before, cpu_seconds(*base.pids()) - database_before
            ours.check(files)
        return figures(files * EXTRACTORS, seconds, cpu, database_cpu)


def figures(jobs: int, seconds: float, cpu: float, database_cpu: float) -> dict:
    return {"cpu_ms": 1000 * cpu / jobs, "database_ms": 1000 * database_cpu / jobs, "jobs_per_s": jobs / seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=700)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--databases", nargs="*", default=["sqlite", "postgresql"])
    options = parser.parse_args()
    rows, kept = [], {}
    for kind in options.databases:
        runs = {"floor": [], "fluxx": []}
        for _ in range(options.runs):
            runs["floor"].append(run_floor(kind, options.files))
            runs["fluxx"].append(run_ours(kind, options.files))
        kept[kind] = runs
        ratios = [ours["cpu_ms"] / floor["cpu_ms"] for floor, ours in zip(runs["floor"], runs["fluxx"], strict=True)]
        for name, results in runs.items():
            rows.append(
                [kind, name]
                + [f"{statistics.median(one[key] for one in results):.2f}" for key in ("cpu_ms", "database_ms")]
                + [f"{statistics.median(one['jobs_per_s'] for one in results):.0f}"]
                + (
                    [f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"]
                    if name == "fluxx"
                    else ["1"]
                )
            )
    table(["database", "program", "CPU ms/job", "database ms/job", "jobs/s", "ratio of CPU (spread)"], rows)
    save("throughput", kept)


if __name__ == "__main__":
    main()
