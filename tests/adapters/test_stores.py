"""The stores' promises, kept on every dialect. One database for each suite: tests empty it before them."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from contracts.accepting import AcceptingContract
from contracts.applying import ApplyingContract
from contracts.changes import ChangesContract
from contracts.claiming import ClaimingContract
from contracts.observing import ObservingContract
from contracts.outbox import OutboxContract
from contracts.presence import PresenceContract
from contracts.reading import ReadingContract
from contracts.registrations import RegistrationsContract
from contracts.retention import RetentionContract
from support.databases import DIALECTS, Databases
from support.stores import StoresWorld, opened_stores


@pytest.fixture(scope="module", params=DIALECTS)
def url(
    request: pytest.FixtureRequest, databases: Databases, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    with databases.of(request.param, tmp_path_factory.mktemp("stores")) as url:
        yield url


@pytest_asyncio.fixture
async def world(url: str) -> AsyncIterator[StoresWorld]:
    async with opened_stores(url) as world:
        yield world


class TestAccepting(AcceptingContract):
    """By one process and by many."""


class TestClaiming(ClaimingContract):
    """By one process and by many."""


class TestApplying(ApplyingContract):
    """By one process and by many."""


class TestReading(ReadingContract):
    """What the API shows."""


class TestOutbox(OutboxContract):
    """What the relay works on."""


class TestRegistrations(RegistrationsContract):
    """What the registration API works on."""


class TestRetention(RetentionContract):
    """What a purge works on."""


class TestObserving(ObservingContract):
    """What pages and metrics show."""


class TestPresence(PresenceContract):
    """Which workers are there."""


class TestChanges(ChangesContract):
    """What those follow who look on live."""
