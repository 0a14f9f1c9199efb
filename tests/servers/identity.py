"""The endpoint that hands tokens to managed identities in Azure Container Apps and App Service.

Microsoft's identity client finds it by IDENTITY_ENDPOINT and IDENTITY_HEADER.
Source: "How to use managed identities for App Service", the REST endpoint.
"""

import time
from typing import Any, Final

import jwt
from aiohttp import web

from servers.loopback import LoopbackServer

HEADER: Final = "identity-header"
TENANT: Final = "11111111-2222-3333-4444-555555555555"
SIGNING_KEY: Final = "nobody checks this signature, and it is long enough"
LIFE: Final = 3600


class IdentityServer(LoopbackServer):
    """Gives a token for whatever resource is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.routes.get("/msi/token")(self._token)

    @property
    def environment(self) -> dict[str, str]:
        """What Azure puts into the environment."""
        return {"IDENTITY_ENDPOINT": f"{self.url}/msi/token", "IDENTITY_HEADER": HEADER}

    async def _token(self, request: web.Request) -> web.Response:
        if request.headers.get("X-IDENTITY-HEADER") != HEADER:
            return web.json_response({"statusCode": 401, "message": "wrong header"}, status=401)
        resource = request.query["resource"]
        now = int(time.time())
        return web.json_response(
            {
                "access_token": jwt.encode(_claims(resource, now), SIGNING_KEY, algorithm="HS256"),
                "expires_on": str(now + LIFE),
                "resource": resource,
                "token_type": "Bearer",
            }
        )


def _claims(resource: str, now: int) -> dict[str, Any]:
    return {
        "aud": resource,
        "iss": f"https://sts.windows.net/{TENANT}/",
        "oid": "66666666-7777-8888-9999-000000000000",
        "tid": TENANT,
        "ver": "1.0",
        "iat": now,
        "nbf": now,
        "exp": now + LIFE,
    }


def audience_of(authorization: str | None) -> str | None:
    """Return the resource that a Bearer token was made for; None where there is no token of ours."""
    scheme, _, token = (authorization or "").partition(" ")
    if scheme != "Bearer":
        return None
    try:
        claims = jwt.decode(token, SIGNING_KEY, algorithms=["HS256"], options={"verify_aud": False})
    except jwt.InvalidTokenError:
        return None
    return str(claims["aud"])
