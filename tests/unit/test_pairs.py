"""Which two results a file's page compares when it is asked for none, for one, or for both."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from fluxx.dashboard.file import pair_of
from fluxx.dashboard.seeing import Shown
from fluxx.model.job import Job, Status

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def run(number: int, extractor: int) -> Shown:
    """A job with a result; ``number`` is also its id's."""
    job = Job(
        job_id=UUID(int=number),
        file_id=UUID(int=1),
        client_application_id=UUID(int=1),
        client_application_extractor_id=UUID(int=extractor),
        status=Status.SUCCEEDED,
        status_message=None,
        created_at=NOW,
        updated_at=NOW,
        deadline_at=NOW,
        due_at=None,
        idempotency_key="accepted",
    )
    return Shown(job=job, file_name="invoice.pdf", extractor_name=f"{extractor}", client_name="Invoices")


TEXT, TABLES, TEXT_AGAIN, OTHER = run(1, 7), run(2, 8), run(3, 7), run(4, 9)
ALL = [TEXT, TABLES, TEXT_AGAIN, OTHER]


def chosen(runs: list[Shown], left: str = "", right: str = "") -> tuple[int, ...] | None:
    pair = pair_of(runs, left, right)
    return None if pair is None else tuple(each.job.job_id.int for each in pair)


@pytest.mark.parametrize(
    ("runs", "numbers"),
    [
        ([], None),
        ([TEXT], None),
        (ALL[:2], (1, 2)),
        (ALL[:3], (3, 2)),
        (ALL, (3, 2)),
        ([TEXT, TEXT_AGAIN], (1, 3)),
        ([TABLES, TEXT], (1, 2)),
    ],
)
def test_unasked_it_is_the_newest_of_the_first_two_extractors(
    runs: list[Shown], numbers: tuple[int, int] | None
) -> None:
    assert chosen(runs) == numbers


@pytest.mark.parametrize(
    ("asked", "numbers"), [(TEXT_AGAIN, (1, 3)), (TEXT, (4, 1)), (TABLES, (4, 2)), (OTHER, (3, 4))]
)
def test_beside_one_stands_its_earlier_run_or_else_another_extractor(asked: Shown, numbers: tuple[int, int]) -> None:
    assert chosen(ALL, right=str(asked.job.job_id)) == numbers
    assert chosen(ALL, left=str(asked.job.job_id)) == numbers[::-1]


def test_any_two_can_be_asked_for_and_what_is_unknown_is_as_if_unasked() -> None:
    assert chosen(ALL, str(OTHER.job.job_id), str(TEXT.job.job_id)) == (4, 1)
    assert chosen(ALL, str(UUID(int=99)), "nonsense") == (3, 2)
