"""The documentation page: Swagger UI that works without a network, its files from an installed package."""

from html import escape
from typing import Final

from fastapi import FastAPI
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

ASSETS: Final = "docs/assets"

# Nothing is written into the page itself that runs: the policy of ``headers`` allows scripts of our own address only.
# Addresses are relative, so that it works behind a path prefix.
PAGE: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="docs/assets/swagger-ui.css">
<link rel="icon" href="docs/assets/favicon.png">
</head>
<body>
<div id="swagger-ui"></div>
<script src="docs/assets/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""
START: Final = """\
SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#swagger-ui",
  layout: "BaseLayout",
  deepLinking: true,
  showExtensions: true,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIBundle.SwaggerUIStandalonePreset],
});
"""
POLICY: Final = {
    "content-security-policy": "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
}
"""Swagger UI sets styles on the elements that it makes; scripts it has none but its own file."""


def add_docs(app: FastAPI) -> None:
    """Serve ``/docs`` for ``app``."""

    async def page() -> Response:
        return Response(PAGE.format(title=escape(app.title)), media_type="text/html", headers=POLICY)

    async def start() -> Response:
        return Response(START, media_type="text/javascript")

    app.add_api_route("/docs", page, methods=["GET"], include_in_schema=False)
    app.add_api_route("/docs/start.js", start, methods=["GET"], include_in_schema=False)
    app.mount(f"/{ASSETS}", StaticFiles(packages=[("fastapi_offline", "static")]), name="docs-assets")
