"""A few hundred days of the whole service, each with its own misfortunes; and the ones that found a fault."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from simulation.__main__ import replay
from simulation.invariants import violations
from simulation.play import simulate

BLOCK = 20
BLOCKS = 10

REGRESSIONS = {
    81: "A worker frozen while it held a result put it in the place of the one that was announced meanwhile.",
}
"""Seeds that found a fault when they were played first, and which."""


def check(seed: int) -> None:
    wrong = violations(simulate(seed))
    assert not wrong, "\n".join([replay(seed), *wrong])


@pytest.mark.parametrize("block", range(BLOCKS))
def test_what_must_hold_holds_on_every_day(block: int) -> None:
    for seed in range(1 + block * BLOCK, 1 + (block + 1) * BLOCK):
        check(seed)


@pytest.mark.parametrize("seed", REGRESSIONS)
def test_a_day_that_found_a_fault_finds_it_no_more(seed: int) -> None:
    check(seed)


def test_a_seed_is_the_same_day_in_every_process() -> None:
    seed = 12
    digests = {simulate(seed).digest, simulate(seed).digest}
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONHASHSEED": "1"}
    command = [sys.executable, "-m", "simulation", str(seed)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    digests.update(re.findall(r"lines, (\w{64})", done.stdout))
    assert len(digests) == 1


def test_different_seeds_are_different_days() -> None:
    assert len({simulate(seed).digest for seed in (1, 2, 3)}) == 3
