"""Names to addresses, once, each address checked before anything connects to it.

The HTTP library connects to exactly what this resolver returns, so that a name can't mean one
address when it is checked and another when it is called ("DNS rebinding").
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv6Address, ip_address
from typing import Final, TypeAlias

from aiohttp.abc import AbstractResolver, ResolveResult

from fluxx.adapters.http.egress import EgressGuard

LOOKUP_THREADS: Final = 8
"""Lookups at the same time. They have threads of their own, as a slow name server holds them long."""

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


class CheckedResolver(AbstractResolver):
    """Resolves names for the HTTP library and passes on only addresses that may be called."""

    def __init__(self, lookup: Lookup, guard: EgressGuard) -> None:
        self._lookup = lookup
        self._guard = guard

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_UNSPEC,  # noqa: ARG002 - the library picks among both families
    ) -> list[ResolveResult]:
        """Return what to connect to; raise OSError for an unknown name, ``EgressRefused`` for a bad one."""
        addresses = [ip_address(text) for text in await self._lookup(host)]
        return [
            ResolveResult(
                hostname=host,
                host=str(address),
                port=port,
                family=socket.AF_INET6 if isinstance(address, IPv6Address) else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for address in self._guard.permitted(addresses, of=f"{host}:{port}")
        ]

    async def close(self) -> None:
        """Nothing is held here."""


def _addresses(host: str) -> Sequence[str]:
    answers = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in answers))
