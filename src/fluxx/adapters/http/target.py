"""Where a call goes: a URL taken apart once, strictly, so that what is checked is what is called.

The egress guard, the redirects and the client all work on a ``Target``; nobody parses a URL a
second time (two parsers that disagree are how guards are passed by). Shown as text it never holds
credentials or a query string, which may carry a signature.
"""

import re
import string
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final
from urllib.parse import quote, urljoin

import msgspec
from yarl import URL

from fluxx.errors import EgressRefused

PORTS: Final = {"http": 80, "https": 443}
LONGEST_URL: Final = 8192
"""Characters. Signed URLs of the large clouds stay below 4 KiB."""
SHOWN_PATH: Final = 200
"""Characters of a path that are shown in messages."""
LONGEST_NAME: Final = 254
"""Characters of a host name with its final dot (RFC 1035, section 2.3.4)."""

_FORBIDDEN: Final = re.compile(r"[\x00-\x20\x7f\\]")
_URL: Final = re.compile(
    r"([^:/?#\x00-\x20\x7f\\]+://[^/?#\x00-\x20\x7f\\]*)([^?#\x00-\x20\x7f\\]*)(\?[^#\x00-\x20\x7f\\]*)?"
    r"(?:#[^\x00-\x20\x7f\\]*)?"
)
"""Origin, path and query (RFC 3986, appendix B), without what ``_FORBIDDEN`` finds."""
_AUTHORITY: Final = re.compile(r"(?:\[(?P<ipv6>[^\]]*)\]|(?P<name>[^:\[\]]*))(?::(?P<port>[0-9]{0,5}))?")
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMERIC: Final = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)\.?")


class Origin(msgspec.Struct, frozen=True):
    """Scheme, host and port: where connections go, and what credentials belong to.

    ``host`` is ASCII and lower-case, a name or a literal address without brackets; ``authority``
    is how host and port stand in URLs and in the Host header.
    """

    scheme: str
    host: str
    port: int
    authority: str

    @classmethod
    def parse(cls, text: str) -> "Origin":
        """Understand the beginning of a URL, up to its path; raise ``EgressRefused``."""
        scheme, _, netloc = text.partition("://")
        scheme = scheme.lower()
        if scheme not in PORTS or not netloc:
            raise EgressRefused("The URL must be absolute and start with http:// or https://.")
        host, port = _authority(netloc)
        port = port or PORTS[scheme]
        shown = f"[{host}]" if ":" in host else host
        return cls(scheme, host, port, shown if port == PORTS[scheme] else f"{shown}:{port}")

    @property
    def literal(self) -> IPv4Address | IPv6Address | None:
        """The address that stands in the URL itself, if one does."""
        return IPv6Address(self.host) if ":" in self.host else _ipv4(self.host)

    def __str__(self) -> str:
        """Return the origin as URLs begin with it."""
        return f"{self.scheme}://{self.authority}"


class Target(msgspec.Struct, frozen=True):
    """An absolute http or https URL without credentials and fragment.

    ``path`` starts with a slash and ``query``, if there is one, with a question mark: both exactly
    as written, so that signatures stay valid, except that what is not ASCII is percent-encoded.
    """

    origin: Origin
    path: str
    query: str

    @classmethod
    def parse(cls, url: str) -> "Target":
        """Understand ``url``; raise ``EgressRefused`` saying what is wrong with it."""
        origin, path, query = taken_apart(url)
        return cls(Origin.parse(origin), path, query)

    def redirected(self, location: str) -> "Target":
        """Return where ``location`` (a Location header, perhaps relative) leads from here."""
        if _FORBIDDEN.search(location):
            raise EgressRefused("The URL can't be understood.")
        try:
            return Target.parse(urljoin(f"{self.origin}{self.path}{self.query}", location))
        except ValueError:
            raise EgressRefused("The URL can't be understood.") from None

    def __str__(self) -> str:
        """Return origin and path, fit for messages."""
        cut = "…" if len(self.path) > SHOWN_PATH else ""
        return f"{self.origin}{self.path[:SHOWN_PATH]}{cut}"

    __repr__ = __str__


def taken_apart(url: str) -> tuple[str, str, str]:
    """Return a URL's beginning, for ``Origin.parse``, and a ``Target``'s path and query; raise ``EgressRefused``."""
    parts = _URL.fullmatch(url) if len(url) <= LONGEST_URL else None
    if parts is None:
        if len(url) > LONGEST_URL or _FORBIDDEN.search(url):
            raise EgressRefused("The URL is too long, or holds spaces, backslashes or control characters.")
        raise EgressRefused("The URL must be absolute and start with http:// or https://.")
    origin, path, query = parts.groups("")
    return origin, _ascii(path) or "/", _ascii(query) if len(query) > 1 else ""


def _authority(netloc: str) -> tuple[str, int | None]:
    if "@" in netloc:
        raise EgressRefused("The URL must not hold a user name or password.")
    match = _AUTHORITY.fullmatch(netloc)
    port = match and match["port"]
    if match is None or (port and not 0 < int(port) < 2**16):
        raise EgressRefused("The URL's host or port can't be understood.")
    host = _name(match["name"]) if match["ipv6"] is None else _ipv6(match["ipv6"])
    return host, int(port) if port else None


def _ipv6(text: str) -> str:
    try:
        address = IPv6Address(text)
    except AddressValueError:
        raise EgressRefused("The URL's host is not a valid IPv6 address.") from None
    if address.scope_id is not None:
        raise EgressRefused("The URL's host must not name a network interface.")
    return address.compressed


def _name(text: str) -> str:
    """Return a host name in ASCII; an address must be four decimal numbers.

    Resolvers read ``0x7f.1``, ``017700000001`` and ``2130706433`` as addresses too; nobody who
    means well writes them.
    """
    try:
        name = text.lower() if text.isascii() else (URL.build(scheme="http", host=text).raw_host or "")
    except ValueError:
        name = ""
    if len(name) > LONGEST_NAME or not all(map(_LABEL.fullmatch, name.removesuffix(".").split("."))):
        raise EgressRefused("The URL's host is not a valid name.")
    if _NUMERIC.fullmatch(name) and _ipv4(name) is None:
        raise EgressRefused("The URL's host must be a name or a plainly written address.")
    return name


def _ipv4(text: str) -> IPv4Address | None:
    try:
        return IPv4Address(text) if text[-1:].isdigit() else None
    except AddressValueError:
        return None


def _ascii(text: str) -> str:
    return text if text.isascii() else quote(text, safe=string.printable)
