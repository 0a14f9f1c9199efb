"""From a request's headers to its caller: by API key, by token, or, where neither is configured, by being local."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from fluxx.api.access.callers import LOCAL, Caller, Unidentified
from fluxx.api.access.issuer import Issuer, is_loopback
from fluxx.api.access.keys import ApiKeys
from fluxx.api.access.tokens import Tokens
from fluxx.clock import Clock
from fluxx.settings import Settings
from fluxx.telemetry import Facts

KEY_HEADER: Final = "x-api-key"


class Credentials:
    """Knows the callers. ``guarded`` says whether they have to show a key or token at all."""

    def __init__(self, keys: ApiKeys | None = None, tokens: Tokens | None = None) -> None:
        self.guarded = keys is not None or tokens is not None
        self._keys = keys
        self._tokens = tokens

    async def caller(self, headers: Mapping[str, str]) -> Caller:
        """Return who calls; raise ``Unidentified``, or ``Unavailable`` where the issuer can't be asked.

        Without keys, the port is on loopback (``server``) and the caller a program of this machine;
        requests that a foreign web page has a browser make are refused.
        """
        if not self.guarded:
            _check_local(headers)
            return LOCAL
        shown = _shown(headers)
        if not shown:
            raise Unidentified("Show a key or token: Authorization: Bearer …, or X-Api-Key.")
        caller = self._keys.caller(shown) if self._keys else None
        if caller is None and self._tokens and shown.count(".") == 2:  # noqa: PLR2004 - header, claims, signature
            return await self._tokens.caller(shown)
        if caller is None:
            raise Unidentified("The key is unknown.")
        return caller


def credentials(settings: Settings, *, clock: Clock, facts: Facts) -> Credentials:
    """Return what the settings say of callers; raise ``Misconfigured`` where that makes no sense."""
    keys = ApiKeys(settings.api_keys.get_secret_value()) if settings.api_keys else None
    tokens = None
    if settings.auth_issuer:
        issuer = Issuer(settings.auth_issuer, clock=clock, facts=facts)
        tokens = Tokens(issuer, audiences=settings.auth_audience, claim=settings.auth_client_application_claim)
    return Credentials(keys, tokens)


def _shown(headers: Mapping[str, str]) -> str:
    scheme, _, value = headers.get("authorization", "").partition(" ")
    return value.strip() if scheme.lower() == "bearer" else headers.get(KEY_HEADER, "").strip()


def _check_local(headers: Mapping[str, str]) -> None:
    """Refuse what comes through a browser from another site.

    A page anywhere may send a form to this machine (``Sec-Fetch-Site``, ``Origin``), and a name that was made to
    mean 127.0.0.1 would even let it read the answers ("DNS rebinding"; ``Host``).
    """
    foreign = Unidentified(
        "Without API_KEYS, only programs on this machine may call, and none on behalf of a web page."
    )
    if not is_loopback(_host(f"//{headers.get('host', '')}")):
        raise foreign
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise foreign
    if headers.get("origin") not in (None, f"http://{headers.get('host', '')}"):
        raise foreign


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
