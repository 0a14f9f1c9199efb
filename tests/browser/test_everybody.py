"""The pages are for everybody: by keyboard, on a phone, in the dark, with a screen reader, and without scripts."""

from typing import Final, NamedTuple

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from fluxx.extractors.samples import sample_files
from support.browser import COLOURS, PHONE, Site, overflow, violations, visit

pytestmark = pytest.mark.asyncio(loop_scope="session")
INVOICE, _, SCAN = sample_files()


class Places(NamedTuple):
    """A client application with a file that has two results, one job that failed and one that goes on."""

    client: str
    file: str
    job: str
    failed: str


PAGES: Final = {
    "overview": "/dashboard",
    "jobs": "/dashboard/jobs?client={0.client}",
    "no jobs": "/dashboard/jobs?search=no-such-file",
    "job": "/dashboard/job/{0.job}",
    "a search in a result": "/dashboard/job/{0.job}?find=invoice",
    "failed job": "/dashboard/job/{0.failed}",
    "file": "/dashboard/file/{0.file}",
    "extractors": "/dashboard/extractors",
    "upload": "/dashboard/upload",
    "sign-in": "/dashboard/sign-in",
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def places(site: Site) -> Places:
    """What the pages are about."""
    client = await site.client("Everybody", "text", "tables")
    file_id, scan = await site.hand_in(client, INVOICE), await site.hand_in(client, SCAN)
    jobs, failed = await site.fluxx.finished(file_id, 2), await site.fluxx.finished(scan, 2)
    return Places(str(client), str(file_id), jobs[0]["jobId"], failed[0]["jobId"])


@pytest.mark.parametrize("name", PAGES)
async def test_a_page_is_accessible_in_light_and_dark_and_fits_a_phone(page: Page, places: Places, name: str) -> None:
    await page.goto(PAGES[name].format(places))
    assert await violations(page) == []
    light = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    await page.emulate_media(color_scheme="dark")
    assert await page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    assert await violations(page, COLOURS) == []
    await page.set_viewport_size(PHONE)
    assert await overflow(page) == []


@pytest.mark.usefixtures("places")
async def test_all_is_done_by_keyboard(page: Page) -> None:
    await page.goto("/dashboard")
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    assert await violations(page) == []
    await page.keyboard.press("Escape")
    await page.keyboard.press("/")
    await page.keyboard.type(SCAN.name)
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/dashboard/jobs?search=*")
    await page.keyboard.press("j")
    await expect(page.get_by_role("link", name=SCAN.name).first).to_be_focused()
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/dashboard/job/*")
    retry, before = page.get_by_role("button", name="Retry"), page.url
    for _ in range(20):
        if await retry.evaluate("button => button === document.activeElement"):
            break
        await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.wait_for_url(lambda url: url != before)
    await page.keyboard.press("g")
    await page.keyboard.press("e")
    await page.wait_for_url("**/dashboard/extractors")


async def test_pages_are_read_and_forms_sent_without_scripts(browser: Browser, site: Site, places: Places) -> None:
    async with visit(browser, site.url, java_script_enabled=False) as page:
        await page.goto(f"/dashboard/job/{places.job}")
        await expect(page.locator(".tree")).to_contain_text("application/pdf")
        await expect(page.get_by_role("button", name="Copy id")).to_have_count(0)
        await page.goto(f"/dashboard/file/{places.file}")
        await expect(page.get_by_role("table").last).to_contain_text("different")
        await page.goto("/dashboard/upload")
        await page.get_by_label("Client application").select_option(value=places.client)
        await page.get_by_label("Choose files").set_input_files(INVOICE)
        await page.get_by_role("button", name="Upload and watch").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text(INVOICE.name)
