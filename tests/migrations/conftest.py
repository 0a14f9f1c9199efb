"""An engine for an empty database, on each dialect."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from fluxx.adapters.sql.engine import make_engine


@pytest.fixture
def engine(empty_database_url: str) -> Iterator[Engine]:
    engine = make_engine(empty_database_url)
    yield engine
    engine.dispose()
