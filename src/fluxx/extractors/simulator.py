"""A pretended extractor for load, demos and faults: same contract, no work. Served by ``fluxx simulate``.

What happens to a job depends on the seed, the job's id and the number of requests made for it, and
on nothing else but time: two runs with the same seed fail the same jobs in the same way.
"""

import math
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from fluxx.errors import Misconfigured, NotFound, Unavailable
from fluxx.extractors.contract import (
    CHUNK_BYTES,
    Elsewhere,
    Failure,
    Inline,
    NotReadyYet,
    State,
    Streamed,
    Submission,
)
from fluxx.extractors.keeping import Keeping

KEPT_SECONDS: Final = 3600.0
KEPT_JOBS: Final = 100_000


class Simulation(msgspec.Struct, frozen=True, kw_only=True):
    """How the simulator behaves.

    Every job takes ``min_seconds`` to ``max_seconds`` and at least ``not_ready`` polls that come too
    early. ``failure_rate`` (0 to 1) of the jobs end as failed; ``fault_rate`` of all requests are
    answered 503, half of these submissions after the job was taken. Results have ``result_bytes``
    (at least what their frame needs) and go by resultUrl above ``max_inline_bytes``.
    """

    min_seconds: float = 0.0
    max_seconds: float = 0.0
    not_ready: int = 0
    failure_rate: float = 0.0
    fault_rate: float = 0.0
    result_bytes: int = 1024
    max_inline_bytes: int = 256 * 2**10
    seed: int = 0

    def check(self) -> None:
        """Raise ``Misconfigured`` for numbers that make no sense."""
        if not 0 <= self.min_seconds <= self.max_seconds < math.inf:
            raise Misconfigured("The latency must be 0 or more seconds, and its minimum not above its maximum.")
        if not (0 <= self.failure_rate <= 1 and 0 <= self.fault_rate <= 1):
            raise Misconfigured("A rate must lie between 0 and 1.")
        if min(self.not_ready, self.result_bytes, self.max_inline_bytes) < 0:
            raise Misconfigured("Counts and sizes must not be negative.")


class _Pretended:
    """One job: when it was taken, if it was, and the requests it has seen."""

    def __init__(self, chance: random.Random, simulation: Simulation) -> None:
        self.seconds = chance.uniform(simulation.min_seconds, simulation.max_seconds)
        self.fails = chance.random() < simulation.failure_rate
        self.taken_at: float | None = None
        self.requests = 0
        self.early_polls = 0
        self.finished = False


class Simulator:
    """The backend that pretends."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._jobs = Keeping[_Pretended](
            seconds=KEPT_SECONDS, count=KEPT_JOBS, now=time.monotonic, forget=lambda _job: None
        )

    async def submit(self, submission: Submission) -> bool:
        """Take the job, unless a fault comes first."""
        job_id = submission.job_id
        job = self._jobs.get(job_id)
        if job is None:
            job = _Pretended(self._chance(job_id, "plan"), self._simulation)
            self._jobs.add(job_id, job)
        fault, early = self._fault(job_id, job)
        if fault and early:
            raise Unavailable("Pretended fault; the job was not taken.")
        known = job.taken_at is not None
        if job.taken_at is None:
            job.taken_at = time.monotonic()
        if fault:
            raise Unavailable("Pretended fault; the job was taken all the same.")
        return not known

    async def look(self, job_id: str) -> State:
        """Tell how far the job pretends to be."""
        job, taken_at = self._taken(job_id)
        if self._fault(job_id, job)[0]:
            raise Unavailable("Pretended fault.")
        left = taken_at + job.seconds - time.monotonic()
        if left > 0 or job.early_polls < self._simulation.not_ready:
            job.early_polls += 1
            return NotReadyYet(math.ceil(left) if left > 0 else None)
        if not job.finished:
            job.finished = True
            self._jobs.finish(job_id)
        if job.fails:
            return Failure("simulated_failure", "The simulator was asked to fail some jobs, and this is one of them.")
        if self._simulation.result_bytes > self._simulation.max_inline_bytes:
            return Elsewhere(job_id)
        return Inline(b"".join([chunk async for chunk in self._content(job_id).chunks]))

    @asynccontextmanager
    async def result(self, token: str) -> AsyncIterator[Streamed]:
        """Make up the result while it is being read."""
        self._taken(token)
        yield self._content(token)

    async def close(self) -> None:
        """Forget all jobs."""
        self._jobs.clear()

    def _taken(self, job_id: str) -> tuple[_Pretended, float]:
        job = self._jobs.get(job_id)
        if job is None or job.taken_at is None:
            raise NotFound(f"There is no job {job_id} here, or it finished too long ago.")
        return job, job.taken_at

    def _fault(self, job_id: str, job: _Pretended) -> tuple[bool, bool]:
        """Return whether this request meets a fault, and if so, whether before anything was done."""
        job.requests += 1
        chance = self._chance(job_id, f"request {job.requests}")
        return chance.random() < self._simulation.fault_rate, chance.random() < 0.5  # noqa: PLR2004 - even odds

    def _content(self, job_id: str) -> Streamed:
        """Return one JSON object of exactly the wanted size, never more than a piece of it in memory."""
        head = msgspec.json.encode({"kind": "simulator", "jobId": job_id, "seed": self._simulation.seed})[:-1]
        head, tail = head + b',"text":"', b'"}'
        filling = max(self._simulation.result_bytes - len(head) - len(tail), 0)
        half = (min(filling, CHUNK_BYTES) + 1) // 2
        block = self._chance(job_id, "content").randbytes(half).hex().encode()
        return Streamed(len(head) + filling + len(tail), _pieces(head, block, filling, tail))

    def _chance(self, job_id: str, purpose: str) -> random.Random:
        return random.Random(f"{self._simulation.seed}/{job_id}/{purpose}")


async def _pieces(head: bytes, block: bytes, filling: int, tail: bytes) -> AsyncIterator[bytes]:
    yield head
    while filling > 0:
        piece = block[:filling]
        filling -= len(piece)
        yield piece
    yield tail
