"""``fluxx top`` in terminals of any size: labelled, nothing wrong is cut off, and what has no room is counted."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from fluxx.cli.top_picture import Look, picture
from fluxx.dashboard.trouble import Trouble
from fluxx.model.counts import NO_TIMES, Counts
from fluxx.model.job import Extractor, Status
from fluxx.ports.changes import Change

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TROUBLE = Trouble(
    sentence="18 of 20 jobs of invoices-of-all-branches failed in the last 15 minutes.",
    advice="See whether the extractor answers, and what it says about the files that it refuses.",
)
TITLES = ("EXTRACTOR", "QUEUED", "STARTED", "SUCCEEDED", "FAILED", "P50", "P95", "RETRIES")
SIZES = [(width, height) for width in (60, 80, 120) for height in (24, 50)]


def a_look(extractors: int = 3, *troubles: Trouble) -> Look:
    """Return a look at so many extractors, the last of which fails."""
    made = [an_extractor(number) for number in range(extractors)]
    counts = Counts(succeeded=4, times=(*NO_TIMES[:3], 2, 1, *NO_TIMES[5:-1], 1))
    hour = {each.client_application_extractor_id: counts for each in made}
    hour[made[-1].client_application_extractor_id] = replace(counts, failed=7)
    return Look(
        now=NOW,
        extractors={each.client_application_extractor_id: each for each in made},
        all_time={},
        hour=hour,
        troubles=troubles,
        changes=[a_change(made[0].client_application_extractor_id, number) for number in range(12)],
    )


def an_extractor(number: int) -> Extractor:
    return Extractor(
        client_application_extractor_id=uuid4(),
        client_application_id=uuid4(),
        name=f"extractor-{number}-of-all-the-branches-that-anybody-has-heard-of",
        extraction_url="https://ocr.example/jobs",
        polling_url=None,
        is_active=True,
        created_at=NOW,
    )


def a_change(extractor_id: UUID, number: int) -> Change:
    return Change(
        change_id=number,
        job_id=uuid4(),
        file_id=uuid4(),
        client_application_id=uuid4(),
        client_application_extractor_id=extractor_id,
        status=Status.STARTED,
        message=f"Change {number}: " + "the extractor had much to say. " * 5,
        attempt_number=1,
        timestamp=NOW,
    )


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("extractors", [1, 3, 40])
@pytest.mark.parametrize("troubles", [0, 1, 9])
def test_whatever_the_size_numbers_have_titles_and_lines_fit(
    width: int, height: int, extractors: int, troubles: int
) -> None:
    lines = picture(a_look(extractors, *[TROUBLE] * troubles), width=width, height=height - 1)
    assert len(lines) < height
    assert max(map(cell_len, lines)) <= width
    titles = next(line for line in lines if line.startswith("EXTRACTOR"))
    missing = [title for title in TITLES if title not in titles.split()]
    assert (f"(no room for {', '.join(missing)})" in lines) is bool(missing)
    assert lines[lines.index(titles) + 1].split()[0] == "all"
    assert "Change 0:" in next(line for line in lines if "Change" in line), "the newest change comes first"


@pytest.mark.parametrize("width", [60, 80, 120])
def test_advice_is_told_to_its_last_word(width: int) -> None:
    shown = " ".join(" ".join(picture(a_look(3, TROUBLE), width=width, height=23)).split())
    assert f"{TROUBLE.sentence} {TROUBLE.advice}" in shown


def test_what_has_no_room_is_counted_and_what_fails_comes_first() -> None:
    lines = picture(a_look(40, *[TROUBLE] * 9), width=80, height=23)
    told = sum(TROUBLE.sentence[:20] in line for line in lines)
    assert f"and {9 - told} more" in lines
    shown = [line for line in lines if line.startswith("extractor-")]
    assert f"and {40 - len(shown)} more" in lines
    assert " 7 " in shown[0]
    assert sum("Change" in line for line in lines) >= 3


def test_in_a_pipe_everything_is_there() -> None:
    shown = picture(a_look(40, *[TROUBLE] * 9), width=10**9, height=10**9)
    assert sum("Change" in line for line in shown) == 12
    assert sum(line.startswith("extractor-") for line in shown) == 40
    assert shown.count(f"{TROUBLE.sentence} {TROUBLE.advice}") == 9
