"""Jobs in flight: started jobs polled every few seconds by one worker, beside the floor of polling alone.

The jobs stand in the database with due times spread over one interval; the extractor never says ready.
After a warm-up, over a window: the polls made, as a share of those that workers without any delay
would make; how late polls reached the extractor (its clock against the due time in the database,
seen every few seconds); CPU per poll by the system's accounting; the resident set. The worker has
one core, the extractor (and PostgreSQL) the other.
"""

import argparse
import bisect
import json
import os
import tempfile
import time
import urllib.request
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from databases import database
from floor_inflight import SPREAD
from machine import OTHER_CORE, WORK_CORE, cpu_seconds, memory, program, python
from ours import HEADSTART, OurWorker
from report import save, table

EXTRACTORS = 3
LOOK_EVERY = 0.6
"""Share of an interval between looks at the due times: less than the shortest wait between two polls of a job."""

TOLERANCE = 0.05
"""Seconds that a poll may seem early: clocks differ a little, and event loops count milliseconds."""

BEYOND_FLOOR = 4 / 3
"""Times the polls that aiohttp alone can make: 20,000 jobs at 5 s on a core where it makes three quarters of them.

Cores differ by more than that. So there is a second run on a slow one, with as many jobs as it should carry.
"""

SLOT_SECONDS = 0.5
"""How long a poll may hold one of ``MAX_CONCURRENCY`` slots on a core that is nearly full (docs/performance.md)."""

Due = set[tuple[str, float]]


class Mock:
    """An extractor that is never ready."""

    def __init__(self, stack: ExitStack) -> None:
        process = stack.enter_context(program(python("mock_extractor.py", "--not-ready", str(10**9)), core=OTHER_CORE))
        self._base = f"http://127.0.0.1:{int(process.stdout.readline())}"
        self.url = f"{self._base}/extract"

    def arrivals(self) -> list[tuple[str, float]]:
        """Return the polls since the last call: job and time."""
        with urllib.request.urlopen(f"{self._base}/arrivals") as answer:
            lines = answer.read().decode().splitlines()
        return [(job, float(at)) for job, at in (line.split() for line in lines)]


def run_floor(jobs: int, interval: float, *, warm_up: float, window: float) -> dict:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        mock, due_file = Mock(stack), Path(folder) / "due"
        arguments = [mock.url, str(jobs), str(interval), str(due_file)]
        floor = stack.enter_context(program(python("floor_inflight.py", *arguments), core=WORK_CORE))
        assert floor.stdout.readline() == "ready\n"
        time.sleep(warm_up + interval)
        return measured(mock, floor.pid, [], jobs, interval, window=window, due=lambda: due_of_floor(floor, due_file))


def due_of_floor(floor: object, due_file: Path) -> Due:
    floor.stdin.write("enough\n")
    floor.stdin.flush()
    assert floor.stdout.readline() == "written\n"
    return {(job, float(at)) for job, at in (line.split() for line in due_file.read_text().splitlines())}


def run_ours(kind: str, jobs: int, interval: float, *, warm_up: float, window: float) -> dict:
    with tempfile.TemporaryDirectory() as folder, database(kind, Path(folder)) as base, ExitStack() as stack:
        mock, home = Mock(stack), Path(folder) / "home"
        ours = stack.enter_context(
            OurWorker(
                home,
                base.url,
                mock.url,
                extractors=EXTRACTORS,
                interval=interval,
                standing=jobs,
                MAX_CONCURRENCY=str(max(512, round(SLOT_SECONDS * jobs / interval))),
            )
        )
        time.sleep(HEADSTART + warm_up)
        seen: list[str] = []
        return measured(
            mock,
            ours.pid,
            base.pids(),
            jobs,
            interval,
            window=window,
            look=lambda: seen.append(ours.due()),
            due=lambda: {(job, at) for text in seen for job, at in json.loads(text)},
        )


def measured(
    mock: Mock,
    pid: int,
    database_pids: list[int],
    jobs: int,
    interval: float,
    *,
    window: float,
    due: Callable[[], Due],
    look: Callable[[], object] = lambda: None,
) -> dict:
    """Watch for ``window`` seconds; ``look`` is called every few of them, ``due`` at the end."""
    mock.arrivals()
    before, database_before, began = cpu_seconds(pid), cpu_seconds(*database_pids), time.time()
    while (left := began + window - time.time()) > 0:
        look()
        time.sleep(min(LOOK_EVERY * interval, left))
    arrivals, end = mock.arrivals(), time.time()
    polls = len(arrivals)
    ideal = jobs * (end - began) / (interval * (1 - SPREAD / 2))
    figures = {
        "share": polls / ideal,
        "cpu_ms": 1000 * (cpu_seconds(pid) - before) / polls,
        "database_ms": 1000 * (cpu_seconds(*database_pids) - database_before) / polls,
        "polls_per_s": polls / (end - began),
        "rss_mb": memory(pid) / 2**20,
    }
    late = lateness(due(), arrivals, began=began, end=end)
    return figures | {"late_p50_ms": 1000 * late[len(late) // 2], "late_p99_ms": 1000 * late[int(0.99 * len(late))]}


def lateness(due: Due, arrivals: list[tuple[str, float]], *, began: float, end: float) -> list[float]:
    """Return, in order, the seconds from each due time in the window to the job's next poll, or to the window's end."""
    polls = defaultdict(list)
    for job, at in arrivals:
        polls[job].append(at)
    late = []
    for job, at in due:
        if began <= at < end:
            place = bisect.bisect_left(polls[job], at - TOLERANCE)
            late.append(max(0.0, (polls[job][place] if place < len(polls[job]) else end) - at))
    return sorted(late)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--interval", type=float, default=5)
    parser.add_argument("--many", type=int, default=100_000, help="jobs in flight at --long-interval; 0: none")
    parser.add_argument("--long-interval", type=float, default=60)
    parser.add_argument("--warm-up", type=float, default=10)
    parser.add_argument("--window", type=float, default=30)
    parser.add_argument("--databases", nargs="*", default=["sqlite", "postgresql"])
    options = parser.parse_args()
    os.sched_setaffinity(0, {OTHER_CORE})  # what watches must not hold the worker up
    times = {"warm_up": options.warm_up, "window": options.window}
    kept = {}
    floor = kept[f"aiohttp alone, {pace(options.jobs, options.interval)}"] = run_floor(
        options.jobs, options.interval, **times
    )
    fitting = round(BEYOND_FLOOR * floor["polls_per_s"] * options.interval * (1 - SPREAD / 2))
    for jobs in sorted({options.jobs, min(options.jobs, fitting)}, reverse=True):
        for kind in options.databases:
            ours = kept[f"{kind}, {pace(jobs, options.interval)}"] = run_ours(kind, jobs, options.interval, **times)
            ours["ratio"] = ours["cpu_ms"] / floor["cpu_ms"]
    if options.many:
        times |= {"window": max(options.window, options.long_interval)}
        for kind in options.databases:
            name = f"{kind}, {pace(options.many, options.long_interval)}"
            kept[name] = run_ours(kind, options.many, options.long_interval, **times)
    show(kept)
    save("inflight", kept)


def pace(jobs: int, interval: float) -> str:
    return f"{jobs} at {interval:g} s"


def show(kept: dict[str, dict]) -> None:
    heads = ["program", "polls made", "late p50 ms", "p99", "CPU ms/poll", "ratio", "database", "RSS MB"]
    rows = [
        [
            name,
            f"{one['share']:.1%}",
            f"{one['late_p50_ms']:.0f}",
            f"{one['late_p99_ms']:.0f}",
            f"{one['cpu_ms']:.3f}",
            f"{one['ratio']:.2f}" if "ratio" in one else "",
            f"{one['database_ms']:.3f}",
            f"{one['rss_mb']:.0f}",
        ]
        for name, one in kept.items()
    ]
    table(heads, rows)


if __name__ == "__main__":
    main()
