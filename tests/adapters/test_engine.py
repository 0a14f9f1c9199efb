"""What ``make_engine`` promises: three dialects, bounded waits, one-line refusals without passwords."""


import pytest
from sqlalchemy import select
from sqlalchemy.exc import TimeoutError as PoolTimeout

from fluxx.adapters.sql.engine import Timeouts, dialect_of, make_engine
from fluxx.adapters.sql.tables import client_application


def test_every_dialect_reads_and_writes_the_tables(database_url: str) -> None:
    engine = make_engine(database_url)
    with engine.begin() as connection:
        assert connection.execute(select(client_application)).all() == []
    assert dialect_of(engine) in database_url.replace("mssql", "sqlserver")
    engine.dispose()


def test_a_pooled_connection_is_waited_for_no_longer_than_asked(database_url: str) -> None:
    engine = make_engine(database_url, pool_size=1, timeouts=Timeouts(pool=0.05))
    with engine.connect(), pytest.raises(PoolTimeout):
        engine.connect()
    engine.dispose()
