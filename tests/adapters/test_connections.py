"""Writes that wait on SQLite share a transaction, and none of them suffers from another."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from sqlalchemy import Connection, Engine, event, insert, select
from sqlalchemy.exc import IntegrityError

from fluxx import wiring
from fluxx.adapters.sql import migrations
from fluxx.adapters.sql.connections import SHARED, Connections
from fluxx.adapters.sql.engine import make_engine
from fluxx.adapters.sql.tables import lease
from fluxx.settings import load
from support.facts import BOUND
from support.rows import row_of


class World:
    def __init__(self, engine: Engine) -> None:
        self.connections = Connections(engine, threads=2)
        self.commits = 0
        event.listen(engine, "commit", self._committed)

    def _committed(self, _: Connection) -> None:
        self.commits += 1

    async def add(self, name: str) -> str:
        def work(connection: Connection) -> str:
            connection.execute(insert(lease).values(row_of(lease) | {"Name": name}))
            return name

        return await self.connections.write(work)

    async def names(self) -> set[str]:
        return set(await self.connections.read(lambda connection: connection.scalars(select(lease.c.Name)).all()))


@pytest_asyncio.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    engine = make_engine(f"sqlite:///{tmp_path / 'shared.db'}")
    migrations.migrate(engine)
    made = World(engine)
    yield made
    await made.connections.close()


async def test_writes_of_the_same_moment_share_a_transaction_and_each_gets_its_own_answer(world: World) -> None:
    names = [str(number) for number in range(SHARED)]
    assert await asyncio.gather(*map(world.add, names)) == names
    assert world.commits == 1
    assert await world.names() == set(names)


async def test_a_write_that_fails_takes_no_other_with_it(world: World) -> None:
    answers = await asyncio.gather(*map(world.add, ["a", "b", "a", "c"]), return_exceptions=True)
    assert [type(answer) for answer in answers] == [str, str, IntegrityError, str]
    assert await world.names() == {"a", "b", "c"}


async def test_a_write_alone_is_committed_when_it_is_answered(world: World) -> None:
    for number in range(3):
        await world.add(str(number))
        assert world.commits == number + 1


@pytest.mark.parametrize("is_named", [False, True])
async def test_however_many_read_slowly_a_write_finds_a_connection(tmp_path: Path, is_named: bool) -> None:  # noqa: FBT001
    overrides = {"database_url": f"sqlite:///{tmp_path / 'named.db'}"} if is_named else {}
    engine = wiring.open_database(load(fluxx_home=tmp_path, **overrides))
    migrations.migrate(engine)
    connections = Connections(engine, threads=wiring.SQL_THREADS)
    over, all_reading = threading.Event(), threading.Barrier(wiring.SQL_THREADS + 1)

    def read(_: Connection) -> None:
        all_reading.wait(BOUND)
        over.wait(BOUND)

    reading = [asyncio.create_task(connections.read(read)) for _ in range(wiring.SQL_THREADS)]
    await asyncio.to_thread(all_reading.wait, BOUND)
    assert await connections.write(lambda connection: connection.scalar(select(1))) == 1
    assert not any(task.done() for task in reading)
    over.set()
    await asyncio.gather(*reading)
    await connections.close()
