"""Tests wait for facts with a bound; none sleeps.

Support code may, where a server is to be slow on purpose; and the simulation, whose time costs nothing.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
EXEMPT = {"support", "servers", "simulation"}
SLEEPERS = {("time", "sleep"), ("asyncio", "sleep"), ("anyio", "sleep"), ("trio", "sleep")}
FILES = sorted(path for path in TESTS.rglob("*.py") if path.relative_to(TESTS).parts[0] not in EXEMPT)


def sleeps(source: str) -> Iterator[int]:
    """Yield the lines that sleep, by whatever name. ``asyncio.sleep(0)`` gives way and is no sleep."""
    tree = ast.parse(source)
    names: dict[str, str] = {}
    taken: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            taken |= {alias.asname or alias.name for alias in node.names if (node.module, alias.name) in SLEEPERS}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _sleeps(node, names, taken):
            yield node.lineno


def _sleeps(call: ast.Call, names: dict[str, str], taken: set[str]) -> bool:
    match call.args:
        case [ast.Constant(value=0)]:
            return False
    match call.func:
        case ast.Name(id=name):
            return name in taken
        case ast.Attribute(value=ast.Name(id=module), attr=name):
            return (names.get(module, module), name) in SLEEPERS
    return False


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(TESTS)))
def test_no_test_sleeps(path: Path) -> None:
    assert not list(sleeps(path.read_text("utf-8")))


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("import time\ntime.sleep(1)", [2]),
        ("import time as t\nt.sleep(1)", [2]),
        ("from asyncio import sleep as nap\nasync def f():\n    await nap(0.1)", [3]),
        ("import asyncio\nasync def f():\n    await asyncio.sleep(0)", []),
        ("sleep(1)", []),
        ("'time.sleep(1)'", []),
    ],
)
def test_the_rule_sees_a_sleep_by_any_name(source: str, lines: list[int]) -> None:
    assert list(sleeps(source)) == lines
