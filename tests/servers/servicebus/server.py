"""The server: a broker behind a port on loopback, in a thread of its own; and the faults, for tests.

Every method may be called from any thread; it returns when the broker has done it.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from servers.servicebus.broker import Broker
from servers.servicebus.connection import Connection
from servers.servicebus.queues import Topic

TICK_SECONDS = 0.02
CALL_SECONDS = 10.0

T = TypeVar("T")


class ServiceBusServer:
    """Runs from ``start`` to ``stop``; ``port`` 0 finds a free one, which stays the same while down."""

    def __init__(self, *, port: int = 0) -> None:
        self.port = port
        self._broker = Broker()
        self._connections: set[Connection] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="servicebus", daemon=True)
        self._listener: asyncio.Server | None = None

    @property
    def connection_string(self) -> str:
        """What a client connects with."""
        return (
            f"Endpoint=sb://127.0.0.1:{self.port};SharedAccessKeyName=tests;SharedAccessKey=bm8gc2VjcmV0"
            ";UseDevelopmentEmulator=true"
        )

    def start(self) -> None:
        """Listen."""
        self._thread.start()
        self._run(self._listen())
        self._call(self._tick)

    def stop(self) -> None:
        """Stop listening, drop every connection, end the thread."""
        self.go_down()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CALL_SECONDS)
        self._loop.close()

    def add_topic(self, name: str, *, drop_duplicates: bool = False) -> None:
        """Make a topic; ``drop_duplicates`` goes by message id."""
        self._call(self._broker.topics.setdefault, name.lower(), Topic(drop_duplicates=drop_duplicates))

    def add_subscription(self, topic: str, name: str, *, lock_seconds: float = 30.0, max_deliveries: int = 10) -> None:
        """Make a subscription; it gets what is published from now on."""
        added = self._broker.topics[topic.lower()]
        self._call(lambda: added.subscribe(name, lock_seconds=lock_seconds, max_deliveries=max_deliveries))

    def count(self, topic: str, subscription: str, *, dead: bool = False) -> int:
        """Return how many messages (or dead letters) a subscription holds, locked ones included."""
        return self._call(lambda: len(self._broker.queue(_address(topic, subscription, dead=dead))))

    def locked(self, topic: str, subscription: str) -> int:
        """Return how many messages of a subscription are held under lock."""
        return self._call(lambda: self._broker.queue(_address(topic, subscription)).locked)

    def pass_time(self, seconds: float) -> None:
        """Let the broker's clock jump ahead; locks that end in between have run out on return."""

        def jump() -> None:
            self._broker.ahead += seconds
            self._broker.wake()

        self._call(jump)

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return len(self._connections)

    def drop_connections(self) -> None:
        """Cut every connection; new ones are welcome."""
        self._call(self._drop)

    def go_down(self) -> None:
        """Cut every connection and refuse new ones."""
        self._run(self._close())

    def come_back(self) -> None:
        """Listen again on the same port, with all the messages."""
        self._run(self._listen())

    @contextmanager
    def down(self) -> Iterator[None]:
        """Be away for a while."""
        self.go_down()
        try:
            yield
        finally:
            self.come_back()

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Be there and say nothing; the connections of that time are of no use afterwards."""
        self._call(setattr, self._broker.faults, "silent", True)
        try:
            yield
        finally:
            self._call(setattr, self._broker.faults, "silent", False)

    def refuse_sends(self, times: int) -> None:
        """Answer so many sends with "server busy"; 0 ends it."""
        self._call(setattr, self._broker.faults, "refused_sends", times)

    def lose_acknowledgements(self, times: int) -> None:
        """Store so many sends and cut the connection in place of saying so."""
        self._call(setattr, self._broker.faults, "lost_acknowledgements", times)

    def refuse_tokens(self, times: int) -> None:
        """Refuse so many tokens, as after a key was changed."""
        self._call(setattr, self._broker.faults, "refused_tokens", times)

    def lose_locks(self, topic: str, subscription: str) -> None:
        """Forget every lock of a subscription: its messages come again."""
        self._call(lambda: self._broker.queue(_address(topic, subscription)).lose_locks(self._broker.now()))

    def redeliver(self, topic: str, subscription: str, times: int) -> None:
        """Acknowledge so many completions and deliver those messages again all the same."""
        self._call(lambda: setattr(self._broker.queue(_address(topic, subscription)), "lost_completions", times))

    async def _listen(self) -> None:
        make = lambda: Connection(self._broker, self._connections)  # noqa: E731 - the event loop wants a factory
        self._listener = await self._loop.create_server(make, "127.0.0.1", self.port)
        self.port = self._listener.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        self._drop()

    def _drop(self) -> None:
        for connection in list(self._connections):
            connection.drop()

    def _tick(self) -> None:
        self._broker.wake()
        self._loop.call_later(TICK_SECONDS, self._tick)

    def _call(self, function: Callable[..., T], *arguments: Any) -> T:
        async def call() -> T:
            return function(*arguments)

        return self._run(call())

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(CALL_SECONDS)


def _address(topic: str, subscription: str, *, dead: bool = False) -> str:
    return f"{topic}/Subscriptions/{subscription}" + ("/$DeadLetterQueue" if dead else "")
