"""Jobs cancelled and run again by hand: each is tried, each refusal is a line, and a bad reason does nothing at all."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from fluxx.model.outcome import Extracted, Outcome
from support.commands import Ended
from support.placed_jobs import placed_in

if TYPE_CHECKING:
    from cli.conftest import Inside

RESULT = Extracted("results/made-up/result.json", 1, "0" * 64)
NOBODY = "01990b6e-2f3c-7d41-9a55-0c2c8f6e1b7a"


def placed(inside: "Inside", *fates: Sequence[Outcome]) -> list[str]:
    """Put a job for each fate into the database; return their ids."""
    return placed_in(inside.folder / ".fluxx", *fates)


def assert_refused(ended: Ended, *job_ids: str) -> None:
    """Assert that stderr holds one line for each of these jobs, and nothing else."""
    for line, job_id in zip(ended.stderr.splitlines(), job_ids, strict=True):
        assert line.startswith("fluxx: ")
        assert job_id in line


def test_every_job_is_cancelled_that_can_be(inside: "Inside") -> None:
    first, final, last = placed(inside, (), (RESULT,), ())
    ended = inside.run("jobs", "cancel", first, final, NOBODY, last, "--reason", "Sent twice", "--json")
    assert ended.status == 1
    done = [inside.succeed("jobs", "show", each, "--json") for each in (first, last)]
    assert ended.stdout == b"".join(each.stdout for each in done)
    told = ("Failed", "Cancelled by an operator: Sent twice")
    assert {(each.json["status"], each.json["statusMessage"]) for each in done} == {told}
    assert_refused(ended, final, NOBODY)


def test_every_job_is_run_again_that_can_be(inside: "Inside") -> None:
    live, final = placed(inside, (), (RESULT,))
    ended = inside.run("jobs", "retry", live, NOBODY, final)
    assert ended.status == 1
    assert_refused(ended, live, NOBODY)
    assert inside.succeed("jobs", "retry", final).text == ended.text


def test_where_no_job_exists_it_makes_no_sense(inside: "Inside") -> None:
    placed(inside, ())
    ended = inside.run("jobs", "cancel", NOBODY, str(uuid4()))
    assert ended.status == 2
    assert len(ended.stderr.splitlines()) == 2


@pytest.mark.parametrize("reason", ["", "  ", "two\nlines", "\x1b[2J", os.fsdecode(b"bad \xff bytes")])
def test_a_reason_that_nobody_could_read_leaves_the_job_alone(inside: "Inside", reason: str) -> None:
    [job] = placed(inside, ())
    before = inside.succeed("jobs", "show", job).stdout
    ended = inside.run("jobs", "cancel", job, NOBODY, "--reason", reason)
    assert "reason must be printable" in ended.complaint
    assert ended.status == 2
    assert inside.succeed("jobs", "show", job).stdout == before, "it falls due when it did"
