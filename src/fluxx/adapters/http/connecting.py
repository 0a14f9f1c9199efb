"""Opens connections: to addresses that the egress guard has passed, and to nothing else."""

import asyncio
import ssl
from collections.abc import Sequence
from typing import Final

from fluxx.adapters.http.connection import Connection
from fluxx.adapters.http.egress import Address, EgressGuard
from fluxx.adapters.http.failures import UNRESOLVED, Broken, unreached
from fluxx.adapters.http.resolving import Names
from fluxx.adapters.http.target import Origin

ATTEMPT_SECONDS: Final = 2.0
"""How long one of several addresses is tried before the next is; the last one has all the time that is left."""


class Connector:
    """Connects to origins within ``timeout`` seconds, look-up and TLS handshake included.

    ``tls`` replaces the verification by the system's authorities.
    """

    def __init__(self, *, guard: EgressGuard, names: Names, tls: ssl.SSLContext | None, timeout: float) -> None:
        self._guard = guard
        self._names = names
        self._tls = tls
        self._timeout = timeout

    async def connect(self, origin: Origin) -> Connection:
        """Return a new connection; raise ``EgressRefused``, ``Unavailable``, or ``Broken`` with nothing sent."""
        try:
            async with asyncio.timeout(self._timeout):
                *others, last = await self._addresses(origin)
                for address in others:
                    try:
                        async with asyncio.timeout(ATTEMPT_SECONDS):
                            return await self._connect(origin, address)
                    except OSError:
                        continue
                return await self._connect(origin, last)
        except OSError as error:
            raise unreached(error) from None

    async def _addresses(self, origin: Origin) -> Sequence[Address]:
        """Return the addresses to try, at least one. The only gate, and every connection comes through it."""
        literal = origin.literal
        addresses = await self._names.addresses(origin.host) if literal is None else [literal]
        if not addresses:
            raise Broken(UNRESOLVED, sent=False)
        return self._guard.permitted(addresses, of=f"{origin.host}:{origin.port}")

    async def _connect(self, origin: Origin, address: Address) -> Connection:
        secure = origin.scheme == "https"
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: Connection(origin),
            str(address),
            origin.port,
            ssl=self._context() if secure else None,
            # Certificates don't know the final dot of a fully qualified name.
            server_hostname=origin.host.removesuffix(".") if secure else None,
        )
        return connection

    def _context(self) -> ssl.SSLContext:
        # Made when first needed: reading the system's authorities takes tens of milliseconds.
        if self._tls is None:
            self._tls = ssl.create_default_context()
            self._tls.set_alpn_protocols(["http/1.1"])
        return self._tls
