"""A Key Vault over HTTPS: secrets with versions, soft delete, and the challenge that asks for a token.

Source: the REST reference of Azure Key Vault, Secrets.
"""

import ssl
import time
from typing import Any, Final
from uuid import uuid4

from aiohttp import web

from servers.identity import TENANT, audience_of
from servers.loopback import LoopbackServer

RESOURCE: Final = "https://vault.azure.net"


class KeyVaultServer(LoopbackServer):
    """A vault. Tests may put secrets in by ``put`` and look at ``secrets`` (the newest version last)."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        super().__init__(tls)
        self.secrets: dict[str, list[dict[str, Any]]] = {}
        self.deleted: dict[str, list[dict[str, Any]]] = {}
        self.disabled: set[str] = set()
        self.forbidden = False
        for method, path, answer in (
            ("GET", "/secrets/{name}/{version:.*}", self._get),
            ("PUT", "/secrets/{name}", self._set),
            ("DELETE", "/secrets/{name}", self._delete),
            ("GET", "/deletedsecrets/{name}", self._get_deleted),
            ("POST", "/deletedsecrets/{name}/recover", self._recover),
        ):
            self.routes.route(method, path)(answer)

    def put(self, name: str, value: str) -> str:
        """Store a new version of a secret; return its id."""
        version = {"value": value, "id": f"{self.url}/secrets/{name}/{uuid4().hex}", "attributes": _attributes()}
        self.secrets.setdefault(name, []).append(version)
        return str(version["id"])

    def reads(self, name: str) -> int:
        """Return how often the secret was asked for (challenges not counted twice)."""
        return self.requests.count(f"GET /secrets/{name}/")

    async def _get(self, request: web.Request) -> web.Response:
        self._authorize(request)
        name, version = request.match_info["name"], request.match_info["version"]
        if name in self.disabled:
            raise _error(web.HTTPForbidden, "Forbidden", inner="SecretDisabled")
        for found in reversed(self.secrets.get(name, [])):
            if found["id"].endswith(version):
                return web.json_response(found)
        raise _error(web.HTTPNotFound, "SecretNotFound")

    async def _set(self, request: web.Request) -> web.Response:
        self._authorize(request)
        name = request.match_info["name"]
        if name in self.deleted:
            raise _error(web.HTTPConflict, "Conflict", inner="ObjectIsDeletedButRecoverable")
        self.put(name, (await request.json())["value"])
        return web.json_response(self.secrets[name][-1])

    async def _delete(self, request: web.Request) -> web.Response:
        self._authorize(request)
        name = request.match_info["name"]
        if name not in self.secrets:
            raise _error(web.HTTPNotFound, "SecretNotFound")
        self.deleted[name] = self.secrets.pop(name)
        return web.json_response(self._deleted(name))

    async def _get_deleted(self, request: web.Request) -> web.Response:
        self._authorize(request)
        if request.match_info["name"] not in self.deleted:
            raise _error(web.HTTPNotFound, "SecretNotFound")
        return web.json_response(self._deleted(request.match_info["name"]))

    async def _recover(self, request: web.Request) -> web.Response:
        self._authorize(request)
        name = request.match_info["name"]
        if name not in self.deleted:
            raise _error(web.HTTPNotFound, "SecretNotFound")
        self.secrets[name] = self.deleted.pop(name)
        return web.json_response({"id": self.secrets[name][-1]["id"], "attributes": _attributes()})

    def _deleted(self, name: str) -> dict[str, Any]:
        newest = {field: value for field, value in self.deleted[name][-1].items() if field != "value"}
        return {**newest, "recoveryId": f"{self.url}/deletedsecrets/{name}", "deletedDate": int(time.time())}

    def _authorize(self, request: web.Request) -> None:
        if audience_of(request.headers.get("Authorization")) != RESOURCE:
            asked = f'Bearer authorization="https://login.microsoftonline.com/{TENANT}", resource="{RESOURCE}"'
            raise _error(web.HTTPUnauthorized, "Unauthorized", headers={"WWW-Authenticate": asked})
        if self.forbidden:
            raise _error(web.HTTPForbidden, "Forbidden", inner="ForbiddenByRbac")


def _attributes() -> dict[str, Any]:
    now = int(time.time())
    return {"enabled": True, "created": now, "updated": now, "recoveryLevel": "Recoverable+Purgeable"}


def _error(
    kind: type[web.HTTPError], code: str, *, inner: str | None = None, headers: dict[str, str] | None = None
) -> web.HTTPError:
    error: dict[str, Any] = {"code": code, "message": f"{code}."}
    if inner:
        error["innererror"] = {"code": inner}
    return kind(text=web.json_response({"error": error}).text, content_type="application/json", headers=headers)
