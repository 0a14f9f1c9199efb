"""The signing keys of ``AUTH_ISSUER``: found by OpenID Connect discovery, kept for a while, read anew when they rotate.

Asked by ``tokens``. However many tokens come, and however wrong they are, the issuer is asked seldom; while it is
away, the keys last read go on counting for a day. Its address comes from our own settings, so the egress guard has
no part in it.
"""

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp
import msgspec
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from fluxx.clock import Clock
from fluxx.errors import Misconfigured, Unavailable
from fluxx.telemetry import ISSUER_AWAY, Facts

LIFETIME: Final = timedelta(hours=1)
"""How long keys count before they are read again."""
LONGEST_LIFETIME: Final = timedelta(days=1)
"""How long they count while the issuer is away."""
PAUSE: Final = timedelta(seconds=30)
"""Between two readings, whatever tokens ask for: new keys are found within this time."""
TIMEOUT: Final = aiohttp.ClientTimeout(total=5.0)
LARGEST_DOCUMENT: Final = 256 * 1024
"""Bytes."""
MOST_KEYS: Final = 100
LEAST_RSA_BITS: Final = 2048

ALGORITHM_OF: Final[Mapping[tuple[str, str | None], str]] = {("RSA", None): "RS256", ("EC", "P-256"): "ES256"}
"""The one algorithm that each kind of key is taken for; a token can't choose another."""


class Issuer:
    """Keeps the promise above for one issuer, of this exact ``url``."""

    def __init__(self, url: str, *, clock: Clock, facts: Facts) -> None:
        if not is_safe(url):
            raise Misconfigured("AUTH_ISSUER must be an https URL.")
        self.url = url
        self._clock = clock
        self._facts = facts
        self._keys: Mapping[str, PyJWK] = {}
        self._read_at: datetime | None = None
        self._asked_at: datetime | None = None
        self._reading = asyncio.Lock()

    async def key(self, key_id: str) -> PyJWK | None:
        """Return the key of this id, None where the issuer has none; raise ``Unavailable`` where it can't be asked."""
        if not self._knows(key_id):
            async with self._reading:
                if not self._knows(key_id) and self._may_ask():
                    await self._read()
        if not self._lasts(LONGEST_LIFETIME):
            raise Unavailable("The issuer of tokens can't be asked for its keys.")
        return self._keys.get(key_id)

    def _knows(self, key_id: str) -> bool:
        return key_id in self._keys and self._lasts(LIFETIME)

    def _may_ask(self) -> bool:
        return self._asked_at is None or self._clock.now() - self._asked_at >= PAUSE

    def _lasts(self, lifetime: timedelta) -> bool:
        return self._read_at is not None and self._clock.now() - self._read_at < lifetime

    async def _read(self) -> None:
        self._asked_at = self._clock.now()
        try:
            self._keys = await self._fetched()
        except (aiohttp.ClientError, TimeoutError, OSError, Unavailable) as error:
            words = str(error) if isinstance(error, Unavailable) else type(error).__name__
            self._facts.tell(ISSUER_AWAY, error=words)
        else:
            self._read_at = self._asked_at

    async def _fetched(self) -> Mapping[str, PyJWK]:
        async with aiohttp.ClientSession(timeout=TIMEOUT, cookie_jar=aiohttp.DummyCookieJar()) as session:
            about = await _document(session, f"{self.url.rstrip('/')}/.well-known/openid-configuration")
            if about.get("issuer") != self.url:
                raise Unavailable("its discovery document is about another issuer than AUTH_ISSUER")
            address = about.get("jwks_uri")
            if not isinstance(address, str) or not is_safe(address):
                raise Unavailable("its discovery document names no https address of keys")
            return _keys_in(await _document(session, address))


def is_safe(url: str) -> bool:
    """Whether what comes from there can be believed: https, or this very machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host)))


def is_loopback(host: str) -> bool:
    """Whether a host name or literal address always means this machine."""
    if host.rstrip(".").lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


async def _document(session: aiohttp.ClientSession, url: str) -> dict[str, Any]:
    async with session.get(url, allow_redirects=False) as answer:
        if answer.status != 200:  # noqa: PLR2004 - HTTP's own number
            raise Unavailable(f"it answered {answer.status}")
        body = b""
        async for piece in answer.content.iter_any():
            body += piece
            if len(body) > LARGEST_DOCUMENT:
                raise Unavailable("it answered with more than a document of keys")
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Unavailable("its answer makes no sense")
    return found


def _keys_in(document: dict[str, Any]) -> Mapping[str, PyJWK]:
    listed = document.get("keys")
    found = {}
    for one in listed[:MOST_KEYS] if isinstance(listed, list) else []:
        key = _key(one) if isinstance(one, dict) else None
        if key is not None and isinstance(key.key_id, str):
            found[key.key_id] = key
    if not found:
        raise Unavailable("it has no key that signs by RS256 or ES256")
    return found


def _key(fields: dict[str, Any]) -> PyJWK | None:
    """Return the key where it is one for signatures, strong enough, of a kind that we take."""
    algorithm = ALGORITHM_OF.get((fields.get("kty", ""), fields.get("crv")))
    if algorithm is None or fields.get("alg", algorithm) != algorithm or fields.get("use", "sig") != "sig":
        return None
    try:
        key = PyJWK(fields, algorithm)
    except (PyJWTError, ValueError, TypeError):
        return None
    material: Any = key.key
    weak = isinstance(material, RSAPublicKey) and material.key_size < LEAST_RSA_BITS
    # A private key in the document is somebody's mistake, and no key for us.
    return None if weak or not hasattr(material, "verify") else key
