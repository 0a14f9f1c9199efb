"""Dashboards and alert rules use metrics and labels that there are, and the service exports no others."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from fluxx import telemetry
from fluxx.cli.metrics_page import names, render
from fluxx.distributions import Measure
from fluxx.telemetry import Fact, Facts, Level

DEPLOY = Path(__file__).parents[2] / "deploy"
EXPORTED = names()
LABELS = frozenset(label for labels in EXPORTED.values() for label in labels)


def _expressions(name: str) -> Iterator[str]:
    if name == "grafana":
        for panel in json.loads((DEPLOY / "grafana" / "fluxx.json").read_text())["panels"]:
            yield from (target["expr"] for target in panel["targets"])
        return
    for group in yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text())["groups"]:
        yield from (rule["expr"] for rule in group["rules"])


@pytest.mark.parametrize("name", ["grafana", "prometheus"])
def test_every_metric_and_label_that_is_asked_for_exists(name: str) -> None:
    expressions = list(_expressions(name))
    assert expressions
    for expression in expressions:
        metrics = re.findall(r"\bfluxx_\w+", expression)
        assert metrics, expression
        assert [metric for metric in metrics if metric not in EXPORTED] == []
        for metric, selector in re.findall(r"(\bfluxx_\w+)\{([^}]*)\}", expression):
            assert set(re.findall(r"(\w+)\s*=", selector)) <= set(EXPORTED[metric]), expression
        for grouping in re.findall(r"by \(([^)]*)\)", expression):
            labels = {label.strip() for label in grouping.split(",")}
            assert labels <= LABELS, expression


@pytest.mark.parametrize("name", ["grafana", "prometheus"])
def test_expressions_are_closed(name: str) -> None:
    for expression in _expressions(name):
        for opening, closing in ("()", "[]", "{}"):
            assert expression.count(opening) == expression.count(closing), expression


def test_the_page_tells_every_name_once_and_what_is_exported_is_on_it() -> None:
    page = render()
    facts = Facts()
    for each in vars(telemetry).values():
        match each:
            case Fact():
                facts.tell(each, **dict.fromkeys({*re.findall(r"\{(\w+)\}", each.wording), *each.labels}, 1))
            case Measure():
                facts.observe(each, 1.0, *each.labels)
            case Level():
                facts.level(each, {each.labels: 1.0})
            case _:
                pass
    samples = {sample.name for metric in facts.registry.collect() for sample in metric.samples}
    exported = {name for name in samples if not name.endswith("_created")}
    assert exported == set(EXPORTED)
    for name in exported:
        assert page.count(f"| `{re.sub('_(bucket|sum|count)$', '', name)}` |") == 1, name


def test_durations_are_in_seconds() -> None:
    for each in vars(telemetry).values():
        match each:
            case Measure(name=name, wording=wording) | Level(name=name, wording=wording):
                assert name.endswith("_seconds") == ("long" in wording), name
            case _:
                pass
