"""The documentation page: Swagger UI that works without a network, its files from an installed package."""

from typing import Final

from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

ASSETS: Final = "docs/assets"


def add_docs(app: FastAPI) -> None:
    """Serve ``/docs`` for ``app``. Addresses are relative, so that it works behind a path prefix."""

    async def page() -> Response:
        return get_swagger_ui_html(
            title=app.title,
            openapi_url="openapi.json",
            swagger_js_url=f"{ASSETS}/swagger-ui-bundle.js",
            swagger_css_url=f"{ASSETS}/swagger-ui.css",
            swagger_favicon_url=f"{ASSETS}/favicon.png",
            oauth2_redirect_url=None,
        )

    app.add_api_route("/docs", page, methods=["GET"], include_in_schema=False)
    app.mount(f"/{ASSETS}", StaticFiles(packages=[("fastapi_offline", "static")]), name="docs-assets")
