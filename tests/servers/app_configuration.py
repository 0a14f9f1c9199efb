"""An App Configuration store: key-values with labels, pages, references to Key Vault secrets.

Over plain HTTP for a connection string, over HTTPS for an identity.
Source: the REST reference of Azure App Configuration, key-values.
"""

import json
import ssl
from typing import Any, Final

from aiohttp import web

from servers.identity import audience_of
from servers.loopback import LoopbackServer

PAGE: Final = 2
REFERENCE: Final = "application/vnd.microsoft.appconfig.keyvaultref+json;charset=utf-8"
SET: Final = "application/vnd.microsoft.appconfig.kvset+json; charset=utf-8"


class AppConfigurationServer(LoopbackServer):
    """A store. Tests fill it by ``put`` and ``refer``."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(tls)
        self._kept: list[dict[str, Any]] = []
        self.routes.get("/kv")(self._list)

    @property
    def connection_string(self) -> str:
        """The setting APP_CONFIG_CONNECTION_STRING."""
        return f"Endpoint={self.url};Id=tests;Secret=bm90IGEgc2VjcmV0"

    def put(self, key: str, value: str, *, label: str | None = None, content_type: str = "") -> None:
        """Keep a value."""
        kept = {"key": key, "value": value, "label": label, "content_type": content_type}
        self._kept.append({**kept, "etag": str(len(self._kept)), "locked": False, "tags": {}})

    def refer(self, key: str, secret_id: str) -> None:
        """Keep a reference to a Key Vault secret."""
        self.put(key, json.dumps({"uri": secret_id}), content_type=REFERENCE)

    async def _list(self, request: web.Request) -> web.Response:
        authorization = request.headers.get("Authorization", "")
        if not authorization.startswith("HMAC-SHA256 Credential=tests&") and audience_of(authorization) is None:
            return web.json_response({"title": "Unauthorized"}, status=401)
        label = request.query.get("label", "*")
        found = [kept for kept in self._kept if label == "*" or (kept["label"] or "\0") == label]
        start = int(request.query.get("after", 0))
        page: dict[str, Any] = {"items": found[start : start + PAGE]}
        if start + PAGE < len(found):
            page["@nextLink"] = str(request.rel_url.update_query({"after": str(start + PAGE)}))
        return web.Response(text=json.dumps(page), headers={"Content-Type": SET})
