"""The egress guard: which addresses this service may call (``docs/security.md``).

Extractors' URLs, result URLs and redirects are other people's input. Public unicast addresses may
be called; everything else only where ``EGRESS_ALLOWED_NETWORKS`` lists it. The client asks for each
hop, the resolver for each address a name leads to, and Registration before it stores a URL.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final, TypeAlias

from fluxx.adapters.http.target import Origin, Target, taken_apart
from fluxx.errors import EgressRefused

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

REMEMBERED: Final = 1024
"""Origins whose text was found good; more than that are forgotten together."""

# Sources: the IANA special-purpose address registries (RFC 6890 and updates), and for Azure
# learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16. Told here rather than
# asked of ``ipaddress``, whose answers change with Python's patch releases.
_SPECIAL_IPV4: Final = {
    IPv4Network("0.0.0.0/8"): "an address of this very network",
    IPv4Network("10.0.0.0/8"): "a private address",
    IPv4Network("100.64.0.0/10"): "an address shared behind carriers' NAT",
    IPv4Network("127.0.0.0/8"): "a loopback address",
    IPv4Network("168.63.129.16/32"): "the cloud platform's own address",
    IPv4Network("169.254.0.0/16"): "a link-local address",
    IPv4Network("172.16.0.0/12"): "a private address",
    IPv4Network("192.0.0.0/24"): "a reserved address",
    IPv4Network("192.0.2.0/24"): "an address for documentation",
    IPv4Network("192.88.99.0/24"): "a 6to4 relay",
    IPv4Network("192.168.0.0/16"): "a private address",
    IPv4Network("198.18.0.0/15"): "an address for benchmarks",
    IPv4Network("198.51.100.0/24"): "an address for documentation",
    IPv4Network("203.0.113.0/24"): "an address for documentation",
    IPv4Network("224.0.0.0/4"): "a multicast address",
    IPv4Network("240.0.0.0/4"): "a reserved address",
}
_SPECIAL_IPV6: Final = {
    IPv6Network("::/128"): "the unspecified address",
    IPv6Network("::1/128"): "a loopback address",
    IPv6Network("fc00::/7"): "a private address",
    IPv6Network("fe80::/10"): "a link-local address",
    IPv6Network("ff00::/8"): "a multicast address",
    IPv6Network("2001::/32"): "a Teredo address",
    IPv6Network("2001::/23"): "a reserved address",
    IPv6Network("2001:db8::/32"): "an address for documentation",
    IPv6Network("2002::/16"): "a 6to4 address",
    IPv6Network("3fff::/20"): "an address for documentation",
}
_PUBLIC_IPV6: Final = IPv6Network("2000::/3")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_LOCALHOST: Final = (IPv4Address("127.0.0.1"), IPv6Address("::1"))


class EgressGuard:
    """Says which URLs and addresses may be called. ``allowed_networks`` may be, besides public ones."""

    def __init__(self, allowed_networks: Sequence[Network]) -> None:
        self._allowed = tuple(allowed_networks)
        self._passed: dict[str, Origin] = {}

    def check_url(self, url: str) -> None:
        """Raise ``EgressRefused`` where ``url`` can never be called, whatever its name resolves to."""
        self.check(Target.parse(url).origin)

    def admit(self, url: str) -> Target:
        """Take ``url`` apart and check it; raise ``EgressRefused``.

        Origins that passed are remembered by their text: from poll to poll a URL differs in its path only.
        """
        text, path, query = taken_apart(url)
        origin = self._passed.get(text)
        if origin is None:
            origin = Origin.parse(text)
            self.check(origin)
            if len(self._passed) >= REMEMBERED:
                self._passed.clear()
            self._passed[text] = origin
        return Target(origin, path, query)

    def check(self, origin: Origin) -> None:
        """Raise ``EgressRefused`` where the origin's own text rules it out.

        Names are judged when they are resolved, except those that always mean this machine
        (RFC 6761, section 6.3).
        """
        name = origin.host.rstrip(".")
        if name == "localhost" or name.endswith(".localhost"):
            self.permitted(_LOCALHOST, of=str(origin))
        elif (address := origin.literal) is not None:
            self.permitted([address], of=str(origin))

    def permitted(self, addresses: Sequence[Address], *, of: str) -> Sequence[Address]:
        """Return those of the addresses that may be called; raise ``EgressRefused`` where none may.

        ``of`` says, for the message, what leads to them.
        """
        wanted = [address for address in addresses if self.permits(address)]
        if wanted or not addresses:
            return wanted
        raise EgressRefused(
            f"{of} may not be called: {addresses[0]} is {_kind(_inner(addresses[0]))} "
            "that EGRESS_ALLOWED_NETWORKS doesn't list.",
            unlisted=str(addresses[0]),
        )

    def permits(self, address: Address) -> bool:
        """Whether a connection to the address may be made."""
        inner = _inner(address)
        return any(address in network or inner in network for network in self._allowed) or _kind(inner) is None


def _inner(address: Address) -> Address:
    """Return the IPv4 address that an IPv4-mapped or NAT64 (RFC 6052) address stands for."""
    if isinstance(address, IPv6Address):
        if address in _NAT64:
            return IPv4Address(int(address) & 0xFFFFFFFF)
        return address.ipv4_mapped or address
    return address


def _kind(address: Address) -> str | None:
    """Return what makes the address special, or None for a public unicast one."""
    if isinstance(address, IPv4Address):
        return next((kind for network, kind in _SPECIAL_IPV4.items() if address in network), None)
    other = None if address in _PUBLIC_IPV6 else "a reserved address"
    return next((kind for network, kind in _SPECIAL_IPV6.items() if address in network), other)
