"""The documentation works without a network."""

import re

import pytest

from support.service import House

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_everything_the_page_needs_comes_from_here(fluxx: House) -> None:
    page = await fluxx.http.get("/docs")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    addresses = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(addresses) == 4
    for address in addresses:
        assert "//" not in address
        asset = await fluxx.http.get(f"/{address}")
        assert asset.status_code == 200
        assert len(asset.content) > 100
    assert "SwaggerUIBundle" in (await fluxx.http.get("/docs/assets/swagger-ui-bundle.js")).text


async def test_the_page_holds_no_script_or_style_that_its_policy_would_stop(fluxx: House) -> None:
    page = await fluxx.http.get("/docs")
    assert "script-src" not in page.headers["content-security-policy"]
    assert re.findall(r"<script(?![^>]*\ssrc=)[^>]*>|\son\w+=|<style|javascript:", page.text) == []
    start = await fluxx.http.get("/docs/start.js")
    assert start.headers["content-type"].startswith("text/javascript")


async def test_the_description_tells_every_problem(fluxx: House) -> None:
    document = (await fluxx.http.get("/openapi.json")).json()
    assert "HTTPValidationError" not in document["components"]["schemas"]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            where = f"{method} {path}"
            assert operation["summary"], where
            assert operation["description"], where
            assert "default" in operation["responses"], where
            for status, response in operation["responses"].items():
                assert response["description"], where
                if status[0] in "45d":
                    assert list(response["content"]) == ["application/problem+json"], where


async def test_optional_polling_urls_are_described_as_optional(fluxx: House) -> None:
    schemas = (await fluxx.http.get("/openapi.json")).json()["components"]["schemas"]
    extractor = schemas["ActiveExtractorDetails"]
    assert set(extractor["properties"]) == {"clientApplicationExtractorId", "extractionUrl", "pollingUrl"}
    assert set(extractor["required"]) == {"clientApplicationExtractorId", "extractionUrl"}
