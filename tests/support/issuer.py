"""An issuer of tokens on loopback: discovery, keys that rotate, and tokens of every kind, good and bad."""

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Self

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

AUDIENCE: Final = "api://fluxx"


class Issuer:
    """Serves its discovery document and keys; ``asked`` counts the readings of its keys."""

    def __init__(self) -> None:
        self.asked = 0
        self.away = False
        self.url = ""
        self.document: dict[str, Any] = {}
        self.published: list[dict[str, Any]] = []
        self.private: dict[str, Any] = {}
        application = web.Application()
        application.router.add_get("/tenant/v2.0/.well-known/openid-configuration", self._discovery)
        application.router.add_get("/keys", self._keys)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        base = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        self.url = f"{base}/tenant/v2.0"
        self.document = {"issuer": self.url, "jwks_uri": f"{base}/keys"}
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._runner.cleanup()

    def add_rsa(self, key_id: str = "rsa", *, bits: int = 2048, **fields: Any) -> None:
        """Make and publish an RSA key; ``fields`` go over what is published of it."""
        private = rsa.generate_private_key(65537, bits)
        self._publish(key_id, private, RSAAlgorithm.to_jwk(private.public_key(), as_dict=True), fields)

    def add_ec(self, key_id: str = "ec", *, curve: ec.EllipticCurve | None = None, **fields: Any) -> None:
        """Make and publish a key on an elliptic curve, P-256 unless told otherwise."""
        private = ec.generate_private_key(curve or ec.SECP256R1())
        self._publish(key_id, private, ECAlgorithm.to_jwk(private.public_key(), as_dict=True), fields)

    def token(self, key_id: str = "rsa", *, algorithm: str = "RS256", key: Any = None, **claims: Any) -> str:
        """A token that is good but for what ``claims`` change of it; a claim that is None is left out."""
        now = int(time.time())
        good = {"iss": self.url, "aud": AUDIENCE, "sub": "someone", "iat": now, "nbf": now, "exp": now + 600}
        content = {name: value for name, value in {**good, "roles": ["read"], **claims}.items() if value is not None}
        signing = self.private[key_id] if key is None else key
        return jwt.encode(content, signing, algorithm=algorithm, headers={"kid": key_id})

    def _publish(self, key_id: str, private: Any, public: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
        self.private[key_id] = private
        self.published.append({**public, "kid": key_id, "use": "sig", **fields})

    async def _discovery(self, _request: web.Request) -> web.Response:
        return web.Response(status=503) if self.away else web.json_response(self.document)

    async def _keys(self, _request: web.Request) -> web.Response:
        self.asked += 1
        return web.json_response({"keys": self.published})
