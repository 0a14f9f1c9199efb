"""An operator runs failed jobs again, stops what is slow, and sets an extractor up."""

from typing import Final

import pytest
from playwright.async_api import Page, expect

from fluxx.extractors.samples import sample_files
from support.browser import Site
from support.facts import BOUND
from support.scripted import ScriptedExtractor

pytestmark = pytest.mark.asyncio(loop_scope="session")
INVOICE, _, SCAN = sample_files()
NAMES: Final = ("one.pdf", "two.pdf", "three.pdf")


async def test_failures_are_retried_in_bulk_and_never_twice(page: Page, site: Site) -> None:
    client = await site.client("Unlucky", "text")
    for name in NAMES:
        await site.fluxx.finished(await site.hand_in(client, SCAN, name=name))
    asked = [page, await page.context.new_page()]
    for each in asked:
        await each.goto(f"/dashboard/jobs?status=Failed&client={client}")
        await each.get_by_label("All that match").check()
        await each.get_by_role("button", name="Retry …").click()
        await expect(each.get_by_role("heading", name="Retry 3 jobs?")).to_be_visible()
    for each in asked:
        await each.get_by_role("button", name="Retry 3 jobs").click()
        await expect(each.get_by_role("heading", name="Retried 3 of 3 jobs")).to_be_visible()
        await expect(each.get_by_text("Done.")).to_be_visible()

    await page.goto(f"/dashboard/jobs?client={client}")
    await expect(page.locator("#rows tr")).to_have_count(6)


async def test_jobs_are_picked_and_cancelled(page: Page, site: Site) -> None:
    client = await site.client("Hasty")
    async with ScriptedExtractor(not_ready=9999) as never:
        await site.fluxx.extractor(client, never.extraction_url, name="never")
        for name in NAMES:
            await site.hand_in(client, INVOICE, name=name)
        await never.wait_for(lambda: len(never.submissions()) == len(NAMES), timeout=BOUND)
        await page.goto(f"/dashboard/jobs?client={client}")
        await expect(page.locator("#rows .status.started")).to_have_count(3)
        await page.get_by_label("Select the job of one.pdf at never").check()
        await page.get_by_label("Select the job of two.pdf at never").check()
        await expect(page.get_by_text("Selected (2)")).to_be_visible()
        await page.get_by_role("button", name="Cancel …").click()
        await page.get_by_role("button", name="Cancel 2 jobs").click()
        await expect(page.get_by_text("Done.")).to_be_visible()
        await page.get_by_role("link", name="Back to the list").click()
        await expect(page.locator("#rows .status.failed")).to_have_count(2)
        await page.locator("#rows tr", has_text="three.pdf").get_by_role("link").click()
        await page.get_by_role("button", name="Cancel").click()
        await page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        await expect(page.locator("#why")).to_contain_text("Cancelled by an operator")


async def test_an_extractor_is_added_tried_and_deactivated(page: Page, site: Site) -> None:
    await page.goto("/dashboard/extractors")
    await page.get_by_text("Add a client application").click()
    await page.get_by_label("Name").last.fill("Newcomers")
    await page.get_by_role("button", name="Add client application").click()
    ours = page.get_by_role("region", name="Newcomers")
    await ours.get_by_label("Name").fill("ocr")
    await ours.get_by_label("Extraction URL").fill(site.extractors.extraction_url("text"))
    await ours.get_by_label("API key").fill("a-wrong-key")
    await ours.get_by_role("button", name="Add extractor").click()
    card = ours.get_by_role("article", name="ocr")
    await ours.get_by_role("button", name="Try with a sample file").click()
    await expect(page.locator("#jobs-of-file .status.failed")).to_be_visible()
    await expect(page.locator("#jobs-of-file")).to_contain_text("rejected the API key")

    await page.goto("/dashboard/extractors")
    await card.get_by_text("Set API key").click()
    await card.get_by_label("New key").fill("a-made-up-key")
    await card.get_by_role("button", name="Set key").click()
    await ours.get_by_role("button", name="Try with a sample file").click()
    await expect(page.locator("#jobs-of-file .status.succeeded")).to_be_visible()

    await page.goto("/dashboard/extractors")
    await card.get_by_role("button", name="Deactivate").click()
    await expect(page.get_by_role("dialog")).to_contain_text("Deactivate ocr?")
    await page.get_by_role("dialog").get_by_role("button", name="Don").click()
    await expect(card.get_by_text("inactive")).to_have_count(0)
    await card.get_by_role("button", name="Deactivate").click()
    await page.get_by_role("dialog").get_by_role("button", name="Deactivate").click()
    await expect(card.get_by_text("inactive")).to_be_visible()
    assert "made-up-key" not in await page.content()
