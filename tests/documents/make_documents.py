"""Makes the package's sample documents and some of the tests' own.

Run by hand (``.venv/bin/python tests/documents/make_documents.py``) when one of them should change; the
files are committed. Companies, people and numbers are invented.
"""

import random
import zipfile
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from io import BytesIO
from pathlib import Path

from fpdf import FPDF
from fpdf.enums import TableBordersLayout
from fpdf.fonts import FontFace
from openpyxl import Workbook
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.worksheet.worksheet import Worksheet
from PIL import Image, ImageDraw, ImageFilter, ImageFont

HERE = Path(__file__).parent
SAMPLES = HERE.parents[1] / "src/fluxx/extractors/samples"
MADE_AT = datetime(2025, 3, 14, 9, 30, tzinfo=UTC)
BLUE = (24, 58, 94)
GREY = (110, 118, 128)

LINES = (
    ("LM-2208", "Levelling theodolite, refurbished", 2, "1480.00"),
    ("LM-0417", "Tripod, ash, brass feet", 2, "212.50"),
    ("LM-1130", "Barometer, aneroid, 0-3000 m", 4, "96.75"),
    ("LM-3305", "Field notebook, waterproof, 96 pages", 25, "7.20"),
    ("SV-0001", "Calibration with certificate", 2, "145.00"),
    ("SV-0009", "Delivery, insured, to Halden Bay", 1, "68.00"),
)
VAT = Decimal("0.20")


def money(amount: Decimal) -> str:
    return f"{amount:,.2f}"


def invoice() -> FPDF:
    pdf = FPDF(format="A4")
    pdf.set_creation_date(MADE_AT)
    pdf.set_title("Invoice LMI-2025-0314")
    pdf.set_author("Larkmoor Instruments Ltd")
    pdf.set_subject("Surveying instruments for Halden Bay Observatory")
    pdf.set_margin(20)
    pdf.set_auto_page_break(auto=False)
    pdf.add_page()
    letterhead(pdf)
    addresses(pdf)
    net = line_items(pdf)
    totals(pdf, net)
    closing(pdf)
    return pdf


def letterhead(pdf: FPDF) -> None:
    pdf.set_fill_color(*BLUE)
    pdf.rect(0, 0, 210, 7, style="F")
    pdf.set_y(18)
    pdf.set_font("Helvetica", "B", 20)
    pdf.set_text_color(*BLUE)
    pdf.cell(110, 10, "Larkmoor Instruments Ltd")
    pdf.set_font("Helvetica", "", 20)
    pdf.cell(0, 10, "INVOICE", align="R", new_x="LMARGIN", new_y="NEXT")
    pdf.set_font("Helvetica", "", 9)
    pdf.set_text_color(*GREY)
    pdf.cell(0, 5, "7 Fernbank Yard, Larkmoor LK4 2TD  |  accounts@larkmoor.example", new_x="LMARGIN", new_y="NEXT")
    pdf.ln(10)


def addresses(pdf: FPDF) -> None:
    facts = (
        ("Halden Bay Observatory", "Invoice number", "LMI-2025-0314"),
        ("Attn. Ines Okafor-Lind", "Invoice date", "14 March 2025"),
        ("1 Lighthouse Road", "Due date", "13 April 2025"),
        ("Halden Bay HB1 1AA", "Your order", "HBO-7741"),
    )
    pdf.set_text_color(0)
    for address, label, value in facts:
        pdf.set_font("Helvetica", "", 10)
        pdf.cell(100, 6, address)
        pdf.set_text_color(*GREY)
        pdf.cell(34, 6, label)
        pdf.set_text_color(0)
        pdf.set_font("Helvetica", "B", 10)
        pdf.cell(0, 6, value, align="R", new_x="LMARGIN", new_y="NEXT")
    pdf.ln(10)


def line_items(pdf: FPDF) -> Decimal:
    net = Decimal(0)
    pdf.set_font("Helvetica", "", 9.5)
    pdf.set_draw_color(170, 180, 190)
    pdf.set_fill_color(255)
    with pdf.table(
        col_widths=(22, 78, 16, 27, 27),
        text_align=("LEFT", "LEFT", "RIGHT", "RIGHT", "RIGHT"),
        borders_layout=TableBordersLayout.ALL,
        headings_style=FontFace(emphasis="BOLD", color=255, fill_color=BLUE),
        line_height=6,
        padding=1,
    ) as table:
        table.row(("Item", "Description", "Qty", "Unit price", "Amount"))
        for item, description, quantity, price in LINES:
            amount = quantity * Decimal(price)
            net += amount
            table.row((item, description, str(quantity), money(Decimal(price)), money(amount)))
    return net


def totals(pdf: FPDF, net: Decimal) -> None:
    vat = (net * VAT).quantize(Decimal("0.01"))
    pdf.ln(4)
    for label, amount, style in (("Net", net, ""), ("VAT 20 %", vat, ""), ("Total GBP", net + vat, "B")):
        pdf.set_font("Helvetica", style, 10.5)
        pdf.cell(116, 7, "")
        pdf.cell(27, 7, label, border="T" if style else 0)
        pdf.cell(27, 7, money(amount), align="R", border="T" if style else 0, new_x="LMARGIN", new_y="NEXT")


def closing(pdf: FPDF) -> None:
    pdf.ln(12)
    pdf.set_font("Helvetica", "", 9.5)
    pdf.multi_cell(
        0,
        5.5,
        "Please pay within 30 days to Larkmoor Instruments Ltd and quote the invoice number.\n"
        "Goods remain our property until paid in full. Thank you for your order.",
    )
    pdf.set_y(-24)
    pdf.set_font("Helvetica", "I", 8)
    pdf.set_text_color(*GREY)
    pdf.cell(0, 5, "Sample document: the companies, people and numbers are invented.", align="C")


def stock_count() -> Workbook:
    book = Workbook()
    book.properties.creator = "Larkmoor Instruments Ltd"
    book.properties.title = "Stock count, spring 2025"
    book.properties.created = book.properties.modified = MADE_AT.replace(tzinfo=None)
    stock = book.active
    stock.title = "Stock"
    heading(stock, ("Item", "Description", "Bin", "Counted", "Booked", "Difference", "Counted on"))
    counts = ((2208, 3, 3), (417, 11, 12), (1130, 40, 40), (3305, 212, 200), (2750, 0, 1), (1902, 18, 18))
    names = ("Levelling theodolite", "Tripod, ash", "Barometer", "Field notebook", "Sextant", "Plumb bob, brass")
    for (number, counted, booked), name in zip(counts, names, strict=True):
        bin_name = f"{'ABC'[number % 3]}-{number % 17:02}"
        # Values and no formulas: readers that don't calculate would find empty cells.
        row = (f"LM-{number:04}", name, bin_name, counted, booked, counted - booked, date(2025, 3, 10))
        stock.append(row)
    people = book.create_sheet("Counted by")
    heading(people, ("Bin", "Name", "Minutes"))
    for row in (("A", "Tomasz Ferreira-Holm", 95), ("B", "Aiko Brandvold", 80), ("C", "Aiko Brandvold", 70)):
        people.append(row)
    return book


def heading(sheet: Worksheet, names: Sequence[str]) -> None:
    sheet.append(names)
    for cell in sheet[1]:
        cell.font = Font(bold=True, color="FFFFFF")
        cell.fill = PatternFill("solid", fgColor="183A5E")
        cell.alignment = Alignment(horizontal="center")
        sheet.column_dimensions[cell.column_letter].width = 24 if len(cell.value) > 10 else 14
    sheet.freeze_panes = "A2"


def scan() -> Image.Image:
    """A delivery note as a flat-bed scanner sees it: grey paper, a little askew, speckled, a stamp."""
    chance = random.Random(4)
    page = Image.new("L", (1000, 1414), 243)
    draw = ImageDraw.Draw(page)
    draw.text((90, 90), "Quillon Freight", fill=40, font=ImageFont.load_default(52))
    draw.text((90, 170), "Delivery note  QF-88213", fill=50, font=ImageFont.load_default(36))
    rows = ("From: Larkmoor Instruments Ltd", "To: Halden Bay Observatory", "Date: 17 March 2025", "")
    rows += ("2 crates   theodolites, tripods     31 kg", "1 carton   barometers, notebooks     9 kg", "")
    rows += ("Received in good order:", "", "          I. Okafor-Lind")
    for number, row in enumerate(rows):
        draw.text((90, 280 + 52 * number), row, fill=60, font=ImageFont.load_default(28))
    draw.line((90, 810, 620, 810), fill=90, width=2)
    draw.ellipse((600, 900, 880, 1090), outline=120, width=5)
    draw.text((650, 965), "RECEIVED", fill=120, font=ImageFont.load_default(36))
    for _ in range(2500):
        page.putpixel((chance.randrange(1000), chance.randrange(1414)), chance.randrange(120, 220))
    return page.rotate(1.3, fillcolor=228, resample=Image.Resampling.BICUBIC).filter(ImageFilter.GaussianBlur(0.7))


def scanned_note() -> FPDF:
    picture = BytesIO()
    scan().save(picture, "JPEG", quality=45)
    pdf = FPDF(format="A4")
    pdf.set_creation_date(MADE_AT)
    pdf.add_page()
    pdf.image(picture, x=0, y=0, w=210, h=297)
    return pdf


def locked() -> FPDF:
    pdf = FPDF()
    pdf.set_creation_date(MADE_AT)
    pdf.add_page()
    pdf.set_font("Helvetica", "", 12)
    pdf.cell(0, 10, "Nobody reads this without the password.")
    pdf.set_encryption(owner_password="owner", user_password="user")
    return pdf


def half_scanned() -> FPDF:
    """Two pages: the first is text, the second a picture."""
    pdf = FPDF()
    pdf.set_creation_date(MADE_AT)
    pdf.add_page()
    pdf.set_font("Helvetica", "", 12)
    pdf.multi_cell(0, 8, "This page is written in letters that a program can read. " * 4)
    pdf.add_page()
    picture = BytesIO()
    Image.new("L", (300, 400), 200).save(picture, "JPEG")
    pdf.image(picture, x=10, y=10, w=180)
    return pdf


def blank() -> FPDF:
    pdf = FPDF()
    pdf.set_creation_date(MADE_AT)
    pdf.add_page()
    return pdf


def letter(path: Path) -> None:
    """The smallest Word document with a sentence and a table."""
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    main_type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    rows = "".join(
        f"<w:tr>{''.join(f'<w:tc><w:p><w:r><w:t>{cell}</w:t></w:r></w:p></w:tc>' for cell in row)}</w:tr>"
        for row in (("Crate", "Weight"), ("1", "31 kg"))
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{main_type}"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{word}"><w:body>'
        "<w:p><w:r><w:t>The crates left Larkmoor on Monday.</w:t></w:r></w:p>"
        f"<w:tbl>{rows}</w:tbl></w:body></w:document>",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name, (2025, 3, 14, 9, 30, 0)), '<?xml version="1.0"?>' + content)


def main() -> None:
    invoice().output(SAMPLES / "invoice.pdf")
    stock_count().save(SAMPLES / "stock-count.xlsx")
    scanned_note().output(SAMPLES / "delivery-note-scan.pdf")
    locked().output(HERE / "locked.pdf")
    half_scanned().output(HERE / "half-scanned.pdf")
    blank().output(HERE / "blank.pdf")
    letter(HERE / "letter.docx")


if __name__ == "__main__":
    main()
