"""Where keys are asked for, a person signs in with one, and the page has its rights: in a real browser's terms."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from fluxx.api.access.callers import Role
from support.access import known, setting
from support.browser import visit
from support.service import house

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_key_opens_the_pages_and_its_rights_are_all_they_have(browser: Browser, tmp_path: Path) -> None:
    operator = known(Role.OPERATE)
    async with house(tmp_path, api_keys=setting(operator)) as fluxx, visit(browser, str(fluxx.service.url)) as page:
        await page.goto("/dashboard/extractors")
        await page.get_by_label("API key").fill(operator.key)
        await page.get_by_role("button", name="Sign in").click()
        await expect(page).to_have_url(f"{fluxx.service.url}/dashboard/extractors")
        await expect(page.get_by_text("Nothing is registered yet")).to_be_visible()
        await expect(page.get_by_text("Add a client application")).to_have_count(0)
        await page.goto("/dashboard")
        await expect(page.locator("#live")).to_have_text("Live")
        await page.get_by_role("button", name="Sign out").click()
        await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
