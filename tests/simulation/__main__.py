"""``python -m simulation 1-300 417``: plays seeds; of a single one it shows all that happened."""

import sys
from collections.abc import Iterator, Sequence
from typing import TextIO

from simulation.evidence import Evidence
from simulation.invariants import violations
from simulation.play import simulate


def main(arguments: Sequence[str], out: TextIO) -> int:
    """Play the seeds; return 1 where something didn't hold."""
    seeds = [seed for argument in arguments for seed in _seeds(argument)]
    bad = jobs = 0
    for seed in seeds:
        seen = simulate(seed)
        wrong = violations(seen)
        bad += bool(wrong)
        jobs += len(seen.jobs)
        if wrong or len(seeds) == 1:
            out.writelines(f"{line}\n" for line in _shown(seen, wrong, whole=len(seeds) == 1))
            out.flush()
    out.write(f"{len(seeds)} seeds, {jobs} jobs, {bad} seeds with something wrong\n")
    return 1 if bad else 0


def _shown(seen: Evidence, wrong: Sequence[str], *, whole: bool) -> Iterator[str]:
    if whole:
        yield from (str(seen.plan), *seen.trace)
    yield f"seed {seen.plan.seed} ({seen.plan.sky}): {len(seen.jobs)} jobs, {len(seen.trace)} lines, {seen.digest}"
    yield from (f"  {one}" for one in wrong)
    if wrong:
        yield f"  {replay(seen.plan.seed)}"


def replay(seed: int) -> str:
    """Return the line that plays a seed again."""
    return f"make simulate SEEDS={seed}"


def _seeds(text: str) -> Iterator[int]:
    first, dash, last = text.partition("-")
    if not first.isdecimal() or not (last.isdecimal() or not dash):
        sys.exit(f"{text!r} names no seeds; give numbers or ranges of them: 417 or 1-300")
    yield from range(int(first), int(last if dash else first) + 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdout))
