"""A history as a timeline, counts as bars, numbers as words."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from fluxx.dashboard import words
from fluxx.dashboard.charts import HEIGHT, chart_of, round_above
from fluxx.dashboard.timeline import timeline_of
from fluxx.model.job import JobStatus, Status
from fluxx.ports.observing import Minute

NOW = datetime(2026, 3, 1, 12, 0, 30, tzinfo=UTC)
AN_ID = UUID(int=1)


def line(status: Status, message: str, second: float) -> JobStatus:
    moment = NOW + timedelta(seconds=second)
    return JobStatus(job_id=AN_ID, status=status, message=message, attempt_number=0, timestamp=moment)


def test_polls_in_a_row_are_told_as_one_and_their_time_adds_up() -> None:
    polls = [line(Status.STARTED, f"Not ready at poll {number}.", number) for number in range(1, 6)]
    history = [line(Status.QUEUED, "Queued", 0), line(Status.STARTED, "Submitted", 0.5), *polls]
    history.append(line(Status.SUCCEEDED, "Done", 9))
    told = timeline_of(history)
    assert [moment.status.value for moment in told] == ["Queued", "Started", "Started", "Succeeded"]
    assert (told[2].folded, told[2].until_next) == (5, timedelta(seconds=8))
    assert told[2].message == "Not ready at poll 1 … poll 5."
    assert told[3].until_next is None


def test_few_polls_and_troubles_are_told_one_by_one() -> None:
    history = [line(Status.STARTED, "Submitted", 0), line(Status.STARTED, "Not ready at poll 1.", 1)]
    assert [moment.folded for moment in timeline_of([*history, line(Status.STARTED, "Busy. Trying again.", 2)])] == [
        0
    ] * 3


def test_bars_stand_in_their_minute_and_under_the_top() -> None:
    minutes = [Minute(NOW.replace(second=0) - timedelta(minutes=back), 6, 2) for back in (0, 59)]
    chart = chart_of(minutes, now=NOW, hours=1, bars=60)
    assert [bar.succeeded for bar in chart.bars] == [6, *[0] * 58, 6]
    assert chart.top == 10
    last = chart.bars[-1]
    assert last.succeeded_y + last.succeeded_height == HEIGHT
    assert last.failed_y + last.failed_height == pytest.approx(last.succeeded_y)
    assert chart_of([], now=NOW, hours=24, bars=96).is_empty


@pytest.mark.parametrize(("number", "top"), [(0, 5), (4, 5), (6, 10), (11, 20), (200, 200), (201, 500)])
def test_an_axis_ends_at_a_round_number(number: int, top: int) -> None:
    assert round_above(number) == top


@pytest.mark.parametrize(
    ("seconds", "told"), [(0, "just now"), (75, "1 min ago"), (-45, "in 45 s"), (7300, "2 h ago"), (200_000, "2 d ago")]
)
def test_moments_are_told_by_their_distance(seconds: float, told: str) -> None:
    assert words.ago(NOW - timedelta(seconds=seconds), NOW) == told


def test_sizes_and_shares_are_told_without_lies() -> None:
    assert [words.size(size) for size in (0, 1023, 1024, 5 * 2**30, None)] == [
        "0 bytes",
        "1023 bytes",
        "1.0 KB",
        "5.0 GB",
        "unknown size",
    ]
    assert [words.percent(share) for share in (0.99999, 1.0, 0.0, None)] == ["99.9 %", "100 %", "0 %", "\N{EN DASH}"]
