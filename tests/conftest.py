"""Fixtures for every test: a real PostgreSQL, and fresh databases on each dialect."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from support.databases import DIALECTS, Databases
from support.postgres import Postgres, running_postgres

pytest_plugins = ["support.azure"]


# A busy machine is no failure: what is slow is found by the benchmarks.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_configure() -> None:
    """Let commands that tests start be ended by Ctrl-C: a shell's background job ignores it, and hands that on."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server, started when the first test asks for it."""
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def databases(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Databases:
    """Where fresh databases come from; PostgreSQL is started when the first one is asked for."""
    return Databases(tmp_path_factory.mktemp("databases"), lambda: request.getfixturevalue("postgres"))


@pytest.fixture(params=DIALECTS)
def database_url(request: pytest.FixtureRequest, databases: Databases, tmp_path: Path) -> Iterator[str]:
    """The URL of a fresh database with the tables of today; the test runs once per dialect."""
    with databases.of(request.param, tmp_path) as url:
        yield url


@pytest.fixture(params=DIALECTS)
def empty_database_url(request: pytest.FixtureRequest, databases: Databases, tmp_path: Path) -> Iterator[str]:
    """The URL of a database without any table; the test runs once per dialect."""
    with databases.of(request.param, tmp_path, empty=True) as url:
        yield url
