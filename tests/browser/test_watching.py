"""Somebody uploads a document, watches its jobs end without touching the page, and looks at what came out."""

from typing import Final

import pytest
from playwright.async_api import Page, expect

from fluxx.extractors.samples import sample_files
from support.browser import Site, steady

pytestmark = pytest.mark.asyncio(loop_scope="session")
INVOICE: Final = sample_files()[0]
JUMPY: Final = 0.1
"""Beyond this, what moves by itself disturbs (web.dev/cls)."""


async def test_an_upload_is_watched_until_its_results_are_there(page: Page, site: Site) -> None:
    await site.client("Watchers", "text", "tables", "simulator")
    await page.goto("/dashboard/upload")
    await page.get_by_label("Client application").select_option(label="Watchers")
    await page.get_by_label("Choose files").set_input_files(INVOICE)
    await expect(page.locator("#chosen")).to_have_text("invoice.pdf")
    await page.get_by_role("button", name="Upload and watch").click()
    await page.wait_for_url("**/dashboard/file/*")
    async with steady(page) as shifted:
        await expect(page.locator("#jobs-of-file .status.succeeded")).to_have_count(3)
        await expect(page.get_by_role("heading", name="Results compared")).to_be_visible()
    assert shifted() < JUMPY
    assert await page.locator("#jobs-of-file .status").all_text_contents() == ["Succeeded"] * 3


async def test_a_list_and_the_overview_follow_by_themselves(page: Page, site: Site) -> None:
    client = await site.client("Followers", "text")
    await page.goto(f"/dashboard/jobs?client={client}")
    await expect(page.get_by_role("heading", name="No such jobs")).to_be_visible()
    await site.hand_in(client, INVOICE)
    await expect(page.locator("#rows .status.succeeded")).to_have_count(1)
    await site.hand_in(client, INVOICE, name="second.pdf")
    await page.get_by_role("link", name="Show 1 newer").click()
    await expect(page.get_by_role("link", name="second.pdf")).to_be_visible()

    await page.goto("/dashboard")
    numbers = page.locator("#extractors tr", has_text="Followers").get_by_role("cell")
    async with steady(page) as shifted:
        await site.hand_in(client, INVOICE, name="third.pdf")
        await expect(numbers.nth(3)).to_have_text("3")
    assert shifted() < JUMPY


async def test_a_result_is_searched_compared_and_compared_with_an_earlier_run(page: Page, site: Site) -> None:
    client = await site.client("Comparers", "text", "tables")
    file_id = await site.hand_in(client, INVOICE)
    await site.fluxx.finished(file_id, 2)
    await page.goto(f"/dashboard/file/{file_id}")
    await expect(page.get_by_role("row", name="kind text tables different")).to_be_visible()
    await expect(page.locator(".verdicts")).to_contain_text("only tables")

    await page.get_by_role("link", name="tables", exact=True).click()
    await page.get_by_label("Find in the result").fill("theodolite")
    await page.get_by_role("button", name="Find", exact=True).click()
    await expect(page.get_by_role("row", name="tables[0].rows[1][1]")).to_contain_text("Levelling theodolite")
    await page.get_by_role("link", name="Whole result").click()
    await page.locator(".tree summary", has_text="tables").click()

    await page.get_by_role("button", name="Retry").click()
    await expect(page.locator("#title .status.succeeded")).to_be_visible()
    await page.get_by_role("link", name="Compare", exact=True).click()
    await expect(page.get_by_text("Both results are the same, byte for byte.")).to_be_visible()
