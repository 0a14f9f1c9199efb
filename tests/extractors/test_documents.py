"""Real documents through the real extractors: what is read, and in which words it is refused."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from fluxx.extractors.contract import Kind
from fluxx.extractors.samples import UNREADABLE, sample_files
from support.extractors import DOCUMENTS, Driver, driving

INVOICE, STOCK, SCAN = sample_files()
NO_OCR = "no OCR engine is installed here"


# One server for all: starting its processes is what takes the time here.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def driver() -> AsyncIterator[Driver]:
    async with driving("text", "tables", workers=1) as running:
        yield running


async def extract(
    driver: Driver, kind: Kind, content: bytes, *, content_type: str, name: str = "file"
) -> dict[str, Any]:
    url = driver.put(content, name=name, content_type=content_type)
    return await driver.finished(kind, await driver.submit(kind, url))


async def test_the_sample_invoice_gives_its_text_and_its_line_items(driver: Driver) -> None:
    text = (await driver.extract("text", INVOICE))["result"]
    assert text["text"].startswith("Larkmoor Instruments Ltd INVOICE\n")
    assert "Total GBP 5,172.00" in text["text"]
    assert (text["kind"], text["mediaType"], text["pageCount"], text["warnings"]) == ("text", "application/pdf", 1, [])
    assert text["characterCount"] == len(text["text"])
    assert text["metadata"] == {
        "title": "Invoice LMI-2025-0314",
        "subject": "Surveying instruments for Halden Bay Observatory",
        "authors": ["Larkmoor Instruments Ltd"],
        "createdAt": "2025-03-14T09:30:00Z",
    }
    tables = (await driver.extract("tables", INVOICE))["result"]
    [table] = tables["tables"]
    assert table["rows"][0] == ["Item", "Description", "Qty", "Unit price", "Amount"]
    assert table["rows"][-1] == ["SV-0009", "Delivery, insured, to Halden Bay", "1", "68.00", "68.00"]
    assert (tables["tableCount"], table["page"], table["sheet"], len(table["box"])) == (1, 1, None, 4)


async def test_the_sample_invoice_adds_up(driver: Driver) -> None:
    [table] = (await driver.extract("tables", INVOICE))["result"]["tables"]
    rows = [[float(cell.replace(",", "")) for cell in row[2:]] for row in table["rows"][1:]]
    assert all(quantity * price == pytest.approx(amount) for quantity, price, amount in rows)
    assert sum(amount for _, _, amount in rows) * 1.2 == pytest.approx(5172)


async def test_a_spreadsheet_gives_its_sheets_as_tables_and_as_text(driver: Driver) -> None:
    tables = (await driver.extract("tables", STOCK))["result"]
    assert [(table["sheet"], len(table["rows"])) for table in tables["tables"]] == [("Stock", 7), ("Counted by", 4)]
    assert tables["tables"][0]["rows"][1][:6] == ["LM-2208", "Levelling theodolite", "A-15", "3", "3", "0"]
    text = (await driver.extract("text", STOCK))["result"]
    assert "Plumb bob, brass" in text["text"]
    assert text["metadata"]["sheetNames"] == ["Stock", "Counted by"]


@pytest.mark.parametrize("kind", ["text", "tables"])
async def test_a_scan_is_refused_in_plain_words(driver: Driver, kind: Kind) -> None:
    error = (await driver.extract(kind, SCAN))["error"]
    assert error["code"] == "no_text"
    assert error["message"].startswith("The document holds no text. Its only page is an image, and " + NO_OCR)
    assert {SCAN.name} == UNREADABLE


@pytest.mark.parametrize("kind", ["text", "tables"])
async def test_a_page_that_is_an_image_is_told_beside_what_was_read(driver: Driver, kind: Kind) -> None:
    result = (await driver.extract(kind, DOCUMENTS / "half-scanned.pdf"))["result"]
    assert len(result["warnings"]) == 1
    assert result["warnings"][0].startswith("Of page 2 next to nothing was read")
    if kind == "text":
        first, second = result["text"].split("\f")
        assert "letters that a program" in first
        assert not second.strip()


@pytest.mark.parametrize(
    ("name", "words", "rows"),
    [
        ("nics-background-checks-2015-11.pdf", "Multiple Admin Handgun Long Gun", [17]),
        ("senate-expenditures.pdf", "DISTRICT DIRECTOR", [4]),
        ("la-precinct-bulletin-2014-p1.pdf", "REGISTRAR-RECORDER/COUNTY CLERK", [3]),
        ("malformed-from-issue-932.pdf", "2021 3 31", []),
    ],
)
async def test_real_documents_give_their_real_text_and_tables(
    driver: Driver, name: str, words: str, rows: list[int]
) -> None:
    assert words in (await driver.extract("text", DOCUMENTS / name))["result"]["text"]
    tables = (await driver.extract("tables", DOCUMENTS / name))["result"]["tables"]
    assert [len(table["rows"]) for table in tables] == rows


async def test_hidden_text_of_a_scan_comes_with_a_warning(driver: Driver) -> None:
    """The page is a picture with nine characters of text beside it: true, but not all there is to see."""
    for kind in ("text", "tables"):
        result = (await driver.extract(kind, DOCUMENTS / "malformed-from-issue-932.pdf"))["result"]
        assert NO_OCR in result["warnings"][0]


@pytest.mark.parametrize("kind", ["text", "tables"])
@pytest.mark.parametrize("name", ["password-example.pdf", "locked.pdf", "locked.xlsx"])
async def test_a_locked_document_says_so(driver: Driver, kind: Kind, name: str) -> None:
    assert (await driver.extract(kind, DOCUMENTS / name))["error"] == {
        "code": "password_protected",
        "message": "The document is protected by a password and can't be opened.",
    }


@pytest.mark.parametrize("kind", ["text", "tables"])
async def test_broken_and_pretended_files_say_so(driver: Driver, kind: Kind) -> None:
    half = INVOICE.read_bytes()[:1500]
    for content, content_type, code, words in (
        (b"", "application/pdf", "empty_file", "The file is empty (0 bytes)."),
        (half, "application/pdf", "broken_file", "damaged or incomplete: it can't be opened as a PDF."),
        (b"<p>Not found</p>", "application/pdf", "broken_file", "claims to be a PDF, but its content is not."),
        (bytes(range(256)), "", "unsupported_type", "can't be told from its content"),
        (STOCK.read_bytes()[:3000], "", "broken_file", "damaged or incomplete"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "image/png", "no_text", NO_OCR),
    ):
        error = (await extract(driver, kind, content, content_type=content_type))["error"]
        assert (error["code"], words in error["message"]) == (code, True), error


async def test_what_holds_nothing_is_no_error(driver: Driver) -> None:
    blank = DOCUMENTS / "blank.pdf"
    assert (await driver.extract("text", blank))["result"]["warnings"] == ["The document holds no text."]
    assert (await driver.extract("tables", blank))["result"]["tables"] == []
    plain = await extract(driver, "tables", b"no table here", content_type="text/plain")
    assert (plain["result"]["tables"], plain["result"]["tableCount"]) == ([], 0)


async def test_word_html_csv_and_source_code_are_read_too(driver: Driver) -> None:
    letter = DOCUMENTS / "letter.docx"
    assert "The crates left Larkmoor on Monday." in (await driver.extract("text", letter))["result"]["text"]
    assert rows(await driver.extract("tables", letter)) == [[["Crate", "Weight"], ["1", "31 kg"]]]

    page = b"<html><h1>Tides</h1><table><tr><td>a</td></tr></table><table><tr><td>b</td></tr></table></html>"
    assert "Tides" in (await extract(driver, "text", page, content_type="text/html"))["result"]["text"]
    assert rows(await extract(driver, "tables", page, content_type="text/html")) == [[["a"]], [["b"]]]

    for content_type in ("", "text/csv", "application/vnd.ms-excel"):  # the last is what Windows says of it
        ready = await extract(driver, "tables", b'a,b\n1,"x,y"\n', content_type=content_type, name="data.csv")
        assert rows(ready) == [[["a", "b"], ["1", "x,y"]]]
    code = await extract(driver, "text", b"print('hello')\n", content_type="text/x-python")
    assert "print('hello')" in code["result"]["text"]


async def test_the_content_tells_the_type_and_not_its_name(driver: Driver) -> None:
    url = driver.put(INVOICE.read_bytes(), name="photo.jpg", content_type="text/html")
    ready = await driver.finished("text", await driver.submit("text", url))
    assert ready["result"]["mediaType"] == "application/pdf"


def rows(ready: dict[str, Any]) -> list[list[list[str | None]]]:
    return [table["rows"] for table in ready["result"]["tables"]]
