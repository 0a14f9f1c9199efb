"""No call to a database waits for ever, whatever is slow: a statement, a lock, the pool, the network, the server."""

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from sqlalchemy import Connection, create_engine, text, update

from fluxx.adapters.sql.engine import Timeouts
from fluxx.adapters.sql.tables import lease
from fluxx.errors import Unavailable
from support.databases import Databases
from support.facts import BOUND
from support.postgres import Postgres
from support.rows import row_of
from support.troubled import one, troubled


@pytest.fixture
def postgresql_url(databases: Databases) -> Iterator[str]:
    with databases.postgresql() as url:
        yield url


async def test_a_statement_is_ended_by_the_server(postgresql_url: str) -> None:
    async with troubled(postgresql_url) as ours:
        with pytest.raises(Unavailable, match="statement timeout"):
            await ours.read(lambda connection: connection.execute(text("SELECT pg_sleep(600)")))
        assert await ours.read(one) == 1


async def test_a_row_that_another_one_holds_is_waited_for_within_a_bound(postgresql_url: str) -> None:
    def work(connection: Connection) -> None:
        connection.execute(update(lease).values(Name="taken"))

    async with troubled(postgresql_url) as ours:
        await ours.write(lambda connection: connection.execute(lease.insert().values(row_of(lease))))
        holder = create_engine(postgresql_url.replace("postgresql:", "postgresql+psycopg:"))
        with holder.begin() as connection:
            work(connection)
            with pytest.raises(Unavailable, match="lock timeout"):
                await ours.write(work)
        await ours.write(work)
        holder.dispose()


async def test_who_froze_in_a_transaction_holds_up_nobody(postgresql_url: str) -> None:
    holds, thawed = threading.Event(), threading.Event()

    def taken(connection: Connection) -> None:
        connection.execute(update(lease).values(Name="taken"))

    def frozen(connection: Connection) -> None:
        taken(connection)
        holds.set()
        thawed.wait(BOUND)
        one(connection)

    patient = Timeouts(idle=0.2)
    async with troubled(postgresql_url, timeouts=patient) as ours, troubled(postgresql_url, timeouts=patient) as others:
        await ours.write(lambda connection: connection.execute(lease.insert().values(row_of(lease))))
        freezing = asyncio.create_task(ours.write(frozen))
        await asyncio.to_thread(holds.wait, BOUND)
        await others.write(taken)
        thawed.set()
        await freezing  # its connection was gone, so that it was done anew


async def test_a_pooled_connection_is_waited_for_within_a_bound(database_url: str) -> None:
    busy, done = threading.Event(), threading.Event()

    def work(connection: Connection) -> None:
        one(connection)
        busy.set()
        done.wait(BOUND)

    async with troubled(database_url, threads=2, pool_size=1) as ours:
        working = asyncio.create_task(ours.read(work))
        await asyncio.to_thread(busy.wait, BOUND)
        with pytest.raises(Unavailable, match="QueuePool"):
            await ours.read(one)
        done.set()
        await working
        assert await ours.read(one) == 1


async def test_a_server_that_takes_no_more_connections_is_asked_again_later(
    postgres: Postgres, postgresql_url: str
) -> None:
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS crowded")
        connection.execute("CREATE ROLE crowded LOGIN CONNECTION LIMIT 1")
    url = postgresql_url.replace("postgres@", "crowded@")
    async with troubled(url) as ours:
        with psycopg.connect(url), pytest.raises(Unavailable, match="too many connections"):
            await ours.read(one)
        assert await _in_the_end(ours.read) == 1


async def _in_the_end(read: Callable[[Callable[[Connection], Any]], Awaitable[Any]]) -> Any:
    """Ask until the server has noticed that there is room again."""
    async with asyncio.timeout(BOUND):
        while True:
            try:
                return await read(one)
            except Unavailable:
                continue


async def test_a_server_that_does_not_answer_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://nobody@127.0.0.1:{silent.getsockname()[1]}/nothing"
        async with asyncio.timeout(BOUND), troubled(url) as ours:
            with pytest.raises(Unavailable, match="timeout"):
                await ours.read(one)


@pytest.mark.parametrize("url", ["postgresql://nobody@127.0.0.1:1/nothing", "postgresql://nobody@nowhere.invalid/x"])
async def test_a_server_that_is_not_there_is_unavailable(url: str) -> None:
    async with troubled(url) as ours:
        with pytest.raises(Unavailable) as caught:
            await ours.read(one)
    assert "\n" not in str(caught.value)


async def test_a_frozen_server_is_given_up_and_used_again_when_it_thaws(postgresql_url: str) -> None:
    """The server's own timeouts don't run while it is frozen; ours do."""
    async with troubled(postgresql_url, threads=1, patience=0.5) as ours:
        pid = await ours.read(lambda connection: connection.execute(text("SELECT pg_backend_pid()")).scalar_one())
        with _frozen(pid):
            for _ in range(3):
                with pytest.raises(Unavailable, match=r"within 0\.5 s"):
                    await ours.read(one)
        assert await _in_the_end(ours.read) == 1


@contextmanager
def _frozen(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


async def test_no_password_is_told(postgresql_url: str) -> None:
    path = urlsplit(postgresql_url)
    async with troubled(f"postgresql://nobody:verysecret@{path.path}?{path.query}") as ours:
        with pytest.raises(Unavailable) as caught:
            await ours.read(one)
    assert "verysecret" not in str(caught.value)
