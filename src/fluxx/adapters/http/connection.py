"""One connection to an extractor: it carries one request at a time and its answer, read at the reader's pace.

Made by ``connecting``, kept by ``pool``, used by the client. Whatever happens on the wire is told
to whoever waits here as ``Broken``, ``TooSlow`` or ``OversizedHead``; a connection to which that happened, or
whose answer was not read to its end, is never used again.
"""

import asyncio
import select
from math import inf
from typing import Final, cast

from fluxx.adapters.http.failures import CLOSED, CUT_OFF, LOST, Broken, OversizedHead, TooSlow
from fluxx.adapters.http.incoming import Head, Incoming
from fluxx.adapters.http.target import Origin

MOST_HELD: Final = 256 * 2**10
"""Bytes of a body that wait to be read before the server is made to wait (one read may come on top)."""


class Connection(asyncio.Protocol):
    """``gone`` is done when the connection is lost; ``rested_at`` (event loop's time) is the pool's to write."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.rested_at = 0.0
        self._loop = asyncio.get_running_loop()
        self.gone: asyncio.Future[None] = self._loop.create_future()
        self._incoming = Incoming()
        self._arrived = select.poll()
        self._busy = False
        self._paused = False
        self._trouble: Exception | None = None
        self._until = inf
        self._timer: asyncio.TimerHandle | None = None
        self._waiter: asyncio.Future[None] | None = None

    @property
    def usable(self) -> bool:
        """Whether a request may be sent, as far as is known: neither side has closed."""
        return self._trouble is None and not self._transport.is_closing()

    @property
    def quiet(self) -> bool:
        """Whether nothing has arrived, an end neither, that a busy event loop has still to tell: one system call."""
        return not self._arrived.poll(0)

    async def ask(self, request: bytes, *, until: float, bodiless: bool = False) -> Head:
        """Send the request and return the head of the answer; ``bodiless`` as in ``Incoming.start``.

        All of the answer must have come at ``until`` (event loop's time), unless ``take_time`` is
        called before; otherwise ``TooSlow`` is raised here or by ``read``.
        """
        if not self.usable:
            raise Broken(CLOSED, sent=False)
        self._incoming.start(bodiless=bodiless)
        self._busy = True
        self._until = until
        if self._timer is None or until < self._timer.when():
            self._watch()
        self._transport.write(request)
        while (head := self._incoming.head) is None:
            await self._progress()
        return head

    def take_time(self) -> None:
        """Let the rest of the answer take as long as it may: the reader has a clock of its own."""
        self._until = inf

    async def read(self) -> bytes:
        """Return what has come of the body, or wait for more; nothing at its end."""
        while not self._incoming.held and not self._incoming.complete:
            await self._progress()
        return self._taken()

    def all_of_it(self) -> bytes | None:
        """Return the rest of the body, without a wait; None while more of it is to come."""
        return self._taken() if self._incoming.complete else None

    def _taken(self) -> bytes:
        data = self._incoming.take()
        if self._paused:
            self._paused = False
            self._transport.resume_reading()
        return data

    def rest(self) -> bool:
        """Say whether the exchange left the connection fit for another one."""
        self._busy = False
        self._until = inf
        if self._incoming.held:
            self._incoming.take()
        return self._incoming.kept and not self._paused and self.usable

    def abort(self) -> None:
        """Close at once; whoever waits here is told."""
        self._fail(Broken(LOST))

    # What follows is called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast(asyncio.Transport, transport)
        self._arrived.register(transport.get_extra_info("socket"), select.POLLIN)

    def data_received(self, data: bytes) -> None:
        """Take what has come. Nothing may come unasked."""
        if not self._busy:
            self.abort()
            return
        try:
            self._incoming.feed(data)
        except (Broken, OversizedHead) as trouble:
            self._fail(trouble)
            return
        if self._incoming.held >= MOST_HELD and not self._paused:
            self._paused = True
            self._transport.pause_reading()
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell whoever waits, unless this is how the answer ends."""
        began = self._incoming.head is not None
        if exc is not None or self._trouble is not None or not self._incoming.end():
            self._trouble = self._trouble or Broken(CUT_OFF if began else LOST if exc else CLOSED)
        self._wake()
        if self._timer is not None:
            self._timer.cancel()
        if not self.gone.done():
            self.gone.set_result(None)

    def _progress(self) -> asyncio.Future[None]:
        """Return what is done when something has happened; raise if that was the end."""
        if self._trouble is not None:
            raise self._trouble
        self._waiter = self._loop.create_future()
        return self._waiter

    def _watch(self) -> None:
        """Set the timer to the end of the time that this exchange has.

        It is left running when an answer has come, for the next exchange: a timer set and cancelled costs
        as much as parsing the answer, and ``asyncio.timeout`` five times that.
        """
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(self._until, self._time_is_up, self._until)

    def _time_is_up(self, moment: float) -> None:
        self._timer = None
        if self._until <= moment:
            self._fail(TooSlow())
        elif self._until < inf:
            self._watch()

    def _fail(self, trouble: Exception) -> None:
        self._trouble = self._trouble or trouble
        self._transport.abort()
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
