"""Listings: whatever the names are, rows fit the room, titles stand above them, and ids stay whole."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from fluxx.cli.tables import LONGEST_NAME, Column, Room, blocks, laid_out, laid_out_in_part, shortened, wrapped

COLUMNS = (
    Column("JOB", Room.WHOLE),
    Column("FILE", Room.NAME),
    Column("EXTRACTOR", Room.NAME),
    Column("AGE", Room.WHOLE, right=True),
)
JOB = "01990b6e-2f3c-7d41-9a55-0c2c8f6e1b7a"
LONG = f"scan-{'0' * 245}.pdf"
NAMES = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=300)


def width_of(row: list[str] | tuple[str, ...]) -> int:
    return cell_len("  ".join(row))


@given(NAMES, st.integers(2, 60))
def test_a_name_keeps_its_beginning_and_its_ending(name: str, size: int) -> None:
    short = shortened(name, size)
    assert cell_len(short) <= size
    if short != name:
        beginning, _, ending = short.partition("…")
        assert name.startswith(beginning.rstrip())
        assert name.endswith(ending.lstrip())


@given(NAMES, NAMES, st.integers(70, 400))
def test_no_name_pushes_anything_out_of_the_room(file: str, extractor: str, width: int) -> None:
    rows = laid_out(COLUMNS, [(JOB, file, extractor, "3s"), (JOB, "a.pdf", "ocr", "3s")], width=width) or []
    assert [row[0].rstrip() for row in rows] == ["JOB", JOB, JOB]
    assert [row[3] for row in rows] == ["AGE", " 3s", " 3s"]
    assert max(width_of([*row]) for row in rows) <= min(width, 36 + 2 * LONGEST_NAME + 3 + 6)


def test_in_a_block_a_name_is_no_longer_either() -> None:
    assert max(map(cell_len, blocks(COLUMNS, [(JOB, LONG, "ocr", "3s")]))) == len("EXTRACTOR  ") + LONGEST_NAME


@given(st.integers(1, 100))
def test_columns_that_do_not_fit_are_named_and_titles_always_stand(width: int) -> None:
    fitting, left_out = laid_out_in_part(COLUMNS, [(JOB, LONG, "ocr", "3s")], width=width)
    titles = [title.strip() for title in fitting[0]]
    assert titles == [column.title for column in COLUMNS[: len(titles)]]
    assert (*COLUMNS[: len(titles)], *left_out) == COLUMNS
    assert len(titles) == 1 or max(width_of([*row]) for row in fitting) <= width


@given(st.lists(NAMES, min_size=1, max_size=30), st.integers(20, 100))
def test_a_wrapped_sentence_loses_no_word(words: list[str], width: int) -> None:
    lines = wrapped(" ".join(words), width)
    assert max(map(cell_len, lines)) <= width
    assert "".join("".join(lines).split()) == "".join(words)
