"""One sender or receiver of Service Bus, used by one task at a time and opened anew when it breaks.

Microsoft's client dies when two tasks use one sender or receiver at once: frames interleave. So
each is behind a lock here. Retries are left to the loops, which pace themselves; only a link that
was open before and turns out dead (the broker closes idle ones) is replaced at once, unnoticed.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, Generic, Protocol, Self, TypeVar

from azure.core.exceptions import AzureError
from azure.servicebus.exceptions import (
    MessageLockLostError,
    MessagingEntityNotFoundError,
    OperationTimeoutError,
    ServiceBusAuthenticationError,
    ServiceBusAuthorizationError,
    ServiceBusQuotaExceededError,
    ServiceBusServerBusyError,
)

from fluxx.errors import Misconfigured, TooLarge, Unavailable

CLOSE_SECONDS: Final = 3.0

FROM_A_LIVE_LINK: Final = (ServiceBusServerBusyError, ServiceBusQuotaExceededError)
TIMEOUTS: Final = (TimeoutError, OperationTimeoutError)
ABOUT_ONE_MESSAGE: Final = (MessageLockLostError, TooLarge)
NOT_ALLOWED: Final = (ServiceBusAuthenticationError, ServiceBusAuthorizationError)


class Endpoint(Protocol):
    """What senders and receivers have in common."""

    async def __aenter__(self) -> Self:
        """Connect."""
        ...

    async def close(self) -> None:
        """Disconnect."""
        ...


E = TypeVar("E", bound=Endpoint)
R = TypeVar("R")


class Link(Generic[E]):
    """Opens ``make()`` when it is needed. ``name`` says in errors what it leads to.

    ``seconds`` bounds every operation, opening included.
    """

    def __init__(self, make: Callable[[], E], *, name: str, seconds: float) -> None:
        self._make = make
        self._name = name
        self._seconds = seconds
        self._endpoint: E | None = None
        self._lock = asyncio.Lock()
        self._closing: set[asyncio.Task[Any]] = set()

    async def use(self, work: Callable[[E], Awaitable[R]], *, longer: float = 0.0) -> R:
        """Let ``work`` use the open endpoint, alone; ``longer`` adds seconds to the bound.

        Raises ``Unavailable``, its cause being Microsoft's error; the next use opens a new link.
        Errors about one message come through as they are.
        """
        async with self._lock:
            was_open = self._endpoint is not None
            seconds = self._seconds + longer
            try:
                return await self._attempt(work, seconds)
            except Unavailable as error:
                dead = was_open and self._endpoint is None and not isinstance(error.__cause__, TIMEOUTS)
                if not dead:
                    raise
            return await self._attempt(work, seconds)

    async def check(self, work: Callable[[E], Awaitable[object]]) -> None:
        """Like ``use``, and raise ``Misconfigured`` where the broker knows no such thing or says no."""
        try:
            await self.use(work)
        except Unavailable as error:
            if isinstance(error.__cause__, MessagingEntityNotFoundError):
                raise Misconfigured(f"Service Bus has no {self._name}.") from error
            if isinstance(error.__cause__, NOT_ALLOWED):
                raise Misconfigured(f"Service Bus forbids the use of {self._name}: {error.__cause__}") from error
            raise

    def drop(self) -> None:
        """Disconnect in the background: the client takes up to a second to say farewell."""
        if self._endpoint is not None:
            task = asyncio.create_task(_close(self._endpoint), name=f"close {self._name}")
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
            self._endpoint = None

    async def close(self) -> None:
        """Disconnect, and wait for what is being closed."""
        async with self._lock:
            self.drop()
        await asyncio.gather(*self._closing)

    async def _attempt(self, work: Callable[[E], Awaitable[R]], seconds: float) -> R:
        try:
            async with asyncio.timeout(seconds):
                return await work(await self._opened())
        except ABOUT_ONE_MESSAGE:
            raise
        except FROM_A_LIVE_LINK as error:
            raise self._unavailable(error) from error
        except (AzureError, OSError) as error:
            self.drop()
            raise self._unavailable(error) from error
        except BaseException:
            self.drop()
            raise

    async def _opened(self) -> E:
        if self._endpoint is None:
            self._endpoint = self._make()
            await self._endpoint.__aenter__()
        return self._endpoint

    def _unavailable(self, error: Exception) -> Unavailable:
        said = "no answer in time" if isinstance(error, TIMEOUTS) else str(error)
        return Unavailable(f"Service Bus, {self._name}: {said}")


async def _close(endpoint: Endpoint) -> None:
    with suppress(Exception):
        async with asyncio.timeout(CLOSE_SECONDS):
            await endpoint.close()
