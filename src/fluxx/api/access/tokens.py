"""Tokens (JWT, RFC 7519) from an issuer such as Entra ID: checked, and turned into callers.

Signed by a key of the issuer (RS256 or ES256), for our audience, by our issuer, in its time. The role is the highest
that the claim ``roles`` names (app roles in Entra ID); the claim that ``AUTH_CLIENT_APPLICATION_CLAIM`` names binds
the caller to one client application.
"""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

import jwt
from jwt.exceptions import PyJWTError

from fluxx.api.access.callers import ROLE_NAMES, Caller, Role, Unidentified
from fluxx.api.access.issuer import Issuer

LONGEST_TOKEN: Final = 16 * 1024
"""Characters; Entra ID's stay below 5,000."""
LEEWAY: Final = 60.0
"""Seconds that the issuer's clock and ours may differ by."""
REQUIRED: Final = ("exp", "iss", "aud", "sub")
LONGEST_NAME: Final = 200


class Tokens:
    """``audiences`` are those of which a token must name one; ``claim`` names the client application, if any."""

    def __init__(self, issuer: Issuer, *, audiences: Sequence[str], claim: str | None) -> None:
        self._issuer = issuer
        self._audiences = audiences
        self._claim = claim

    async def caller(self, token: str) -> Caller:
        """Return the token's bearer; raise ``Unidentified``, or ``Unavailable`` where the issuer's keys are away."""
        claims = await self._checked(token)
        role = _role(claims.get("roles"))
        client = self._client_application(claims)
        if self._claim and client is None and role is not Role.ADMIN:
            # Bound to nothing it would see everything: whoever forgot the claim is to notice.
            role = Role.NONE
        return Caller(f"token {claims['sub'][:LONGEST_NAME]}", role, client)

    async def _checked(self, token: str) -> dict[str, Any]:
        if len(token) > LONGEST_TOKEN:
            raise Unidentified("The token is too long.")
        try:
            key_id = jwt.get_unverified_header(token).get("kid")
        except PyJWTError:
            raise Unidentified("The token is not a JWT.") from None
        key = await self._issuer.key(key_id) if isinstance(key_id, str) else None
        if key is None:
            raise Unidentified("The token is not signed by a key of the issuer.")
        try:
            return jwt.decode(
                token,
                key,
                algorithms=[key.algorithm_name],
                audience=self._audiences,
                issuer=self._issuer.url,
                leeway=LEEWAY,
                options={"require": list(REQUIRED), "enforce_minimum_key_length": True},
            )
        except PyJWTError as error:
            raise Unidentified(f"The token is not valid ({type(error).__name__}).") from None

    def _client_application(self, claims: dict[str, Any]) -> UUID | None:
        value = claims.get(self._claim) if self._claim else None
        if value is None:
            return None
        try:
            return UUID(value)
        except (ValueError, TypeError, AttributeError):
            raise Unidentified("The token names a client application that is no UUID.") from None


def _role(claim: object) -> Role:
    names = claim if isinstance(claim, list) else [claim]
    return max((ROLE_NAMES.get(name, Role.NONE) for name in names if isinstance(name, str)), default=Role.NONE)
