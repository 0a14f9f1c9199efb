"""Names to addresses. Called by ``connecting``, which checks each address and connects to that address.

Nothing else resolves names, so that a name can't mean one address when it is checked and another
when it is called ("DNS rebinding").
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from typing import Final, TypeAlias

import msgspec

from fluxx.adapters.http.egress import Address
from fluxx.adapters.http.failures import UNRESOLVED, Broken, unresolved

LOOKUP_THREADS: Final = 8
"""Lookups at the same time. They have threads of their own, as a slow name server holds them long."""
KNOWN_SECONDS: Final = 10.0
"""How long an answer is used again: a burst of connections needs one lookup; a move is soon noticed."""

Lookup: TypeAlias = Callable[[str], Awaitable[Sequence[str]]]
"""From a host name to its addresses as text; raises OSError where there are none."""


class SystemLookup:
    """Asks the operating system, on threads."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(LOOKUP_THREADS, thread_name_prefix="lookup")

    async def __call__(self, host: str) -> Sequence[str]:
        """Return the addresses of ``host`` in the system's order of preference."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, _addresses, host)

    def close(self) -> None:
        """Let the threads go; lookups that wait are given up."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class Names:
    """The addresses of names, remembered for ``KNOWN_SECONDS``; calls that need the same one share its lookup."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._known: dict[str, _Known] = {}

    async def addresses(self, host: str) -> Sequence[Address]:
        """Return where the name leads, nowhere perhaps; raise ``Broken`` or ``Unavailable`` if it can't be resolved."""
        now = asyncio.get_running_loop().time()
        known = self._known.get(host)
        if known is None or known.until < now:
            self._known = {name: other for name, other in self._known.items() if other.until >= now}
            known = _Known(asyncio.ensure_future(self._lookup(host)), now + KNOWN_SECONDS)
            # A failure that nobody waits for any more is nothing to report.
            known.asked.add_done_callback(lambda asked: asked.cancelled() or asked.exception())
            self._known[host] = known
        try:
            # Shielded: one caller's end must not be the others'.
            return [ip_address(text) for text in await asyncio.shield(known.asked)]
        except OSError as error:
            self._known.pop(host, None)
            raise unresolved(error) from None
        except asyncio.CancelledError:
            if not known.asked.cancelled():
                raise
        raise Broken(UNRESOLVED, sent=False)

    async def close(self) -> None:
        """Give up lookups that wait."""
        asked = [known.asked for known in self._known.values()]
        for lookup in asked:
            lookup.cancel()
        await asyncio.gather(*asked, return_exceptions=True)


class _Known(msgspec.Struct, frozen=True):
    asked: "asyncio.Future[Sequence[str]]"
    until: float


def _addresses(host: str) -> Sequence[str]:
    answers = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in answers))
