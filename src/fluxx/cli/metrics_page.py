"""Draws ``docs/metrics.md`` from ``telemetry``; a test holds the page to it."""

from collections.abc import Iterable
from string import Formatter
from typing import Final

from fluxx import telemetry
from fluxx.distributions import PREFIX, Measure
from fluxx.telemetry import Fact, Level

HEAD: Final = """\
# Metrics

`GET /metrics` gives them in Prometheus' text format. Generated from `src/fluxx/telemetry.py`; every name begins with
`fluxx_`, durations are in seconds. `deploy/prometheus/alerts.yaml` and `deploy/grafana/fluxx.json` use these names,
and a test holds them to this page.

Each process counts what it does itself: add processes up (`sum`). What is said of the whole service is the same on
every replica that serves an API: take one (`max`).
"""
LEVELS: Final = """
## Of the whole service

Gauges, read from the sums that are written beside the jobs: no scrape counts jobs, however many there are.

| name | labels | meaning |
| --- | --- | --- |
"""
MEASURES: Final = """
## Of this process: how long, how many

Histograms (`_bucket`, `_sum`, `_count`).

| name | labels | meaning |
| --- | --- | --- |
"""
FACTS: Final = """
## Of this process: how often

Counters, one for each fact that is also a line in the log.

| name | labels | the line in the log | level |
| --- | --- | --- | --- |
"""


def render() -> str:
    """Return the page."""
    values = [*vars(telemetry).values()]
    levels = [_row(each.name, each.labels, each.wording) for each in values if isinstance(each, Level)]
    measures = [_row(each.name, each.labels, each.wording) for each in values if isinstance(each, Measure)]
    facts = [_fact(each) for each in values if isinstance(each, Fact)]
    return "".join([HEAD, LEVELS, *levels, MEASURES, *measures, FACTS, *facts])


def names() -> dict[str, tuple[str, ...]]:
    """Return every name that can be exported, with its labels."""
    found: dict[str, tuple[str, ...]] = {}
    for each in vars(telemetry).values():
        match each:
            case Level(name=name, labels=labels):
                found[PREFIX + name] = labels
            case Measure(name=name, labels=labels):
                found[f"{PREFIX}{name}_bucket"] = (*labels, "le")
                found |= dict.fromkeys((f"{PREFIX}{name}_sum", f"{PREFIX}{name}_count"), labels)
            case Fact(name=name, labels=labels):
                found[f"{PREFIX}{name}_total"] = labels
            case _:
                pass
    return found


def _fact(fact: Fact) -> str:
    words = "".join(text + (f"*{field}*" if field else "") for text, field, _, _ in Formatter().parse(fact.wording))
    grows = f"; grows by *{fact.amount}*" if fact.amount else ""
    level = {10: "debug", 20: "info", 30: "warning", 40: "error"}[fact.level]
    return f"| `{PREFIX}{fact.name}_total` | {_codes(fact.labels)} | {words}{grows} | {level} |\n"


def _row(name: str, labels: Iterable[str], wording: str) -> str:
    return f"| `{PREFIX}{name}` | {_codes(labels)} | {wording} |\n"


def _codes(labels: Iterable[str]) -> str:
    return ", ".join(f"`{label}`" for label in labels)
