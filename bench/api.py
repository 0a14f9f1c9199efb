"""The job API under load: a job by its id, and a file's first page, beside a bare FastAPI endpoint.

Both serve the same database, from the same core, to the same load, in turn; the bare endpoint reads
one row by its primary key. Ours answers with the job's history too, checks the caller and the
rate, and tells what fails. Medians of RUNS; the ratio is that of the p99 in the same minute.
"""

import argparse
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from databases import database
from machine import OTHER_CORE, WORK_CORE, program, python, wait_until
from ours import OurWorker
from report import save, table

JOBS = 3000
EXTRACTORS = 3
AWAY = "http://127.0.0.1:9/extract"


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def listening(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def serving(command: list[str], port: int, environment: dict[str, str]) -> Iterator[None]:
    with program(command, core=WORK_CORE, environment=environment):
        wait_until(lambda: listening(port), bound=60)
        yield


def load(port: int, wanted: list[tuple[str, str]], *, connections: int, seconds: float) -> dict:
    """Return what ``load.py`` says of asking ``wanted``: paths, each with an id that the answer holds."""
    with tempfile.NamedTemporaryFile("w") as paths:
        paths.write("\n".join(" ".join(one) for one in wanted))
        paths.flush()
        command = python("load.py", str(port), paths.name, str(connections), str(seconds))
        done = subprocess.run(["taskset", "-c", str(OTHER_CORE), *command], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def run(kind: str, *, runs: int, connections: int, seconds: float) -> dict[str, list[dict]]:
    results: dict[str, list[dict]] = {"bare": [], "job": [], "page": []}
    with tempfile.TemporaryDirectory() as folder, database(kind, Path(folder)) as base:
        ours = OurWorker(Path(folder) / "home", base.url, AWAY, extractors=EXTRACTORS, interval=60, standing=JOBS)
        ours.prepare()
        jobs = ours.jobs()
        asked = {
            "bare": [(f"/job/{job}", job) for job, _ in jobs],
            "job": [(f"/extractor/job/{job}", job) for job, _ in jobs],
            "page": [(f"/extractor/job/file/{file}", job) for job, file in jobs],
        }
        environment = {**ours.environment, "RATE_LIMIT_PER_SECOND": "1000000"}
        port = free_port()
        fluxx = [sys.executable, "-m", "fluxx", "serve", "jobs", "--port", str(port)]
        bare = python("bare_api.py", base.url, str(port))
        for _ in range(runs):
            for command, names in ((bare, ("bare",)), (fluxx, ("job", "page"))):
                with serving(command, port, environment):
                    for name in names:
                        load(port, asked[name], connections=connections, seconds=1)
                        time.sleep(0.5)
                        results[name].append(load(port, asked[name], connections=connections, seconds=seconds))
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--databases", nargs="*", default=["sqlite", "postgresql"])
    options = parser.parse_args()
    rows, kept = [], {}
    for kind in options.databases:
        kept[kind] = run(kind, runs=options.runs, connections=options.connections, seconds=options.seconds)
        for name, title in (("bare", "bare FastAPI"), ("job", "job by id"), ("page", "first page by file")):
            ratios = [
                one["p99_ms"] / bare["p99_ms"] for one, bare in zip(kept[kind][name], kept[kind]["bare"], strict=True)
            ]
            medians = [
                f"{statistics.median(one[key] for one in kept[kind][name]):.1f}"
                for key in ("p50_ms", "p99_ms", "requests_per_s")
            ]
            spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
            rows.append([kind, title, *medians, spread])
    table(["database", "asked", "p50 ms", "p99 ms", "requests/s", "ratio of p99 (spread)"], rows)
    save("api", kept)


if __name__ == "__main__":
    main()
