"""Names and types that files come with fit their columns and headers, whatever they are."""

from hypothesis import given
from hypothesis import strategies as st

from fluxx.api.files import attachment
from fluxx.intake.file_names import LONGEST_NAME, UNNAMED, content_type_of, display_name


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@given(st.text() | st.text(min_size=390, max_size=900) | st.text("😀.", min_size=150, max_size=500))
def test_a_name_is_one_printable_line_that_fits(given_name: str) -> None:
    name = display_name(given_name)
    assert 0 < units(name) <= LONGEST_NAME
    assert name.isprintable()
    assert display_name(name) == name


@given(st.text(st.characters(codec="utf-8")))
def test_a_name_fits_a_header(given_name: str) -> None:
    header = attachment(display_name(given_name))
    assert header.isascii()
    assert header.isprintable()
    assert header.count('"') == 2


def test_a_long_name_keeps_its_ending() -> None:
    assert display_name("x" * 1000 + ".tar.gz").endswith("x.gz")
    assert units(display_name("x" * 1000 + "." + "y" * 1000)) == LONGEST_NAME
    assert display_name(" \x00\n ") == UNNAMED


@given(st.text() | st.text("abc/;= \"'\r\n", max_size=30))
def test_a_content_type_is_one_or_none(text: str) -> None:
    kept = content_type_of(text)
    assert kept.isascii()
    assert "\n" not in kept
    assert "\r" not in kept
    assert "/" in kept
