"""The jobs' writer: accept, claim, renew, release and apply, grouped and fenced.

Every transaction touches Job, then JobStatus, then the outbox, rows in key order: two transactions
can then wait for each other but never for ever.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, Final
from uuid import UUID, uuid4

from sqlalchemy import Connection, bindparam, func, select, update
from sqlalchemy.exc import IntegrityError

from fluxx.adapters.sql.accepting import accept_group
from fluxx.adapters.sql.claims import CLAIMERS, Wanted
from fluxx.adapters.sql.connections import Connections
from fluxx.adapters.sql.rows import job_of
from fluxx.adapters.sql.tables import job
from fluxx.adapters.sql.troubles import misses_a_parent
from fluxx.adapters.sql.writing import ClaimsLost, Writing
from fluxx.clock import Clock
from fluxx.errors import Conflict, NotFound, Unavailable
from fluxx.loops.gathering import Gatherer
from fluxx.model.job import Job
from fluxx.model.transitions import Transition
from fluxx.ports.jobs import Acceptance, Accepted, Claim, Due
from fluxx.telemetry import GROUP_SIZE, Facts

GROUP_LIMIT: Final = 500
"""Jobs named by one statement at the most, each by its id and its claim: SQL Server takes 2,100 parameters."""

APPLYING_REST: Final = 0.06
"""Seconds between groups of transitions while more of them come: waits run from the answer, not from the commit."""

ACCEPT_TRIES: Final = 5
"""How often other workers may be quicker with a key of the same file before it is tried no more."""

_due_at: Final = attrgetter("due_at")

NEXT_DUE: Final = select(func.min(job.c.DueAt)).where(job.c.DueAt > bindparam("due_by"))  # IX_Job_DueAt: one entry


class SqlJobs:
    """Keeps the promises of ``ports.jobs.JobStore``."""

    def __init__(self, connections: Connections, *, clock: Clock, facts: Facts) -> None:
        self._connections = connections
        self._clock = clock
        self._facts = facts
        self._claimer = CLAIMERS[connections.dialect]
        self._writing = Writing(connections.dialect)
        self._accepting = Gatherer(self._accept_group, limit=GROUP_LIMIT)
        self._applying = Gatherer(self._apply_group, limit=GROUP_LIMIT, rest=APPLYING_REST)

    async def accept(self, acceptance: Acceptance) -> Accepted:
        """See ``JobStore.accept``."""
        answer = await self._accepting.add(acceptance)
        if isinstance(answer, NotFound):
            raise answer
        return answer

    async def claim(
        self, *, lease: float, limit: int, without: frozenset[UUID] = frozenset(), ahead: float = 0.0
    ) -> Due:
        """See ``JobStore.claim``."""
        now = self._clock.now()
        wanted = Wanted(
            due_by=_later(now, ahead), until=_later(now, lease), token=uuid4(), limit=limit, without=without
        )
        taken, next_due_at = await self._connections.write(lambda connection: self._take(connection, wanted))
        # No database promises an order of what an UPDATE took.
        jobs = sorted(self._claimer.read(taken), key=_due_at) if taken else []
        return Due(jobs, next_due_at)

    def _take(self, connection: Connection, wanted: Wanted) -> tuple[Any, datetime | None]:
        if taken := self._claimer.take(connection, wanted):
            return taken, None  # the next look is soon, and tells
        return None, connection.scalar(NEXT_DUE, {"due_by": wanted.due_by})

    async def seize(self, job_id: UUID, *, lease: float) -> Job:
        """See ``JobStore.seize``."""
        token, until = uuid4(), _later(self._clock.now(), lease)
        taking = (
            update(job)
            .where(job.c.JobID == job_id, job.c.DueAt.is_not(None))
            .values(DueAt=until, ClaimToken=token)
            .returning(job)
        )
        row = await self._connections.write(lambda connection: connection.execute(taking).one_or_none())
        if row is not None:
            return job_of(row)
        finding = select(job.c.Status).where(job.c.JobID == job_id)
        status = await self._connections.read(lambda connection: connection.scalar(finding))
        if status is None:
            raise NotFound(f"There is no job {job_id}.")
        raise Conflict(f"Job {job_id} is {status} already; nothing can change that.")

    async def renew(self, claims: Sequence[Claim], *, lease: float) -> Sequence[Claim]:
        """See ``JobStore.renew``."""
        until = _later(self._clock.now(), lease)
        held: list[Claim] = []
        for start in range(0, len(claims), GROUP_LIMIT):
            held += await self._push(claims[start : start + GROUP_LIMIT], until)
        return held

    async def release(self, claims: Mapping[Claim, datetime]) -> None:
        """See ``JobStore.release``."""
        ordered = sorted(claims.items(), key=_claimed_id)
        for start in range(0, len(ordered), GROUP_LIMIT):
            await self._connections.write(self._writing.releasing(ordered[start : start + GROUP_LIMIT]))

    async def _push(self, claims: Sequence[Claim], due_at: datetime) -> Sequence[Claim]:
        pushing = (
            update(job)
            .where(
                job.c.JobID.in_([claim.job_id for claim in claims]),
                job.c.ClaimToken.in_({claim.claim_token for claim in claims}),
            )
            .values(DueAt=due_at)
            .returning(job.c.JobID, job.c.ClaimToken)
        )
        rows = await self._connections.write(lambda connection: connection.execute(pushing).all())
        # A job may be pushed under another of these tokens, which is ours too; but that is not this claim.
        held = {(row.JobID, row.ClaimToken) for row in rows}
        return [claim for claim in claims if (claim.job_id, claim.claim_token) in held]

    async def apply(self, transition: Transition) -> bool:
        """See ``JobStore.apply``."""
        return await self._applying.add(transition)

    async def _accept_group(self, group: Sequence[Acceptance]) -> Sequence[Accepted | NotFound]:
        for _ in range(ACCEPT_TRIES):
            try:
                return await self._connections.write(lambda connection: accept_group(connection, group, self._writing))
            except IntegrityError as error:
                if len(group) > 1:
                    raise  # the gatherer comes again with each alone
                if misses_a_parent(error):
                    raise NotFound("The file's client application or extractor isn't in the database.") from error
            # A race for the same key was lost: it is known now.
        raise Unavailable("Other workers are quicker with the jobs of this file; try again.")

    async def _apply_group(self, group: Sequence[Transition]) -> Sequence[bool]:
        self._facts.observe(GROUP_SIZE, len(group))
        if self._writing.counts:
            # Nearly always every claim is still held: the fence in the update tells, and nobody need look first.
            with suppress(ClaimsLost):
                await self._connections.write(self._writing.changing(sorted(group, key=_job_id)))
                return [True] * len(group)
        return await self._connections.write(lambda connection: _apply_held(connection, group, self._writing))


def _apply_held(connection: Connection, group: Sequence[Transition], writing: Writing) -> Sequence[bool]:
    """Write the transitions whose claim is still held; say for each whether it is written."""
    holding = (
        select(job.c.JobID, job.c.ClaimToken, job.c.Status, job.c.UpdatedAt)
        .where(job.c.JobID.in_(sorted({one.job.job_id for one in group})))
        .order_by(job.c.JobID)
        .with_for_update()
        .with_hint(job, "WITH (UPDLOCK, ROWLOCK)", "mssql")
    )
    rows = {row.JobID: row for row in connection.execute(holding)}
    fresh: dict[UUID, Transition] = {}
    written: list[bool] = []
    for one in group:
        row = rows.get(one.job.job_id)
        held = row is not None and row.ClaimToken is not None and row.ClaimToken == one.claim_token
        first = fresh.setdefault(one.job.job_id, one) if held else None
        written.append(first == one or (row is not None and _is_written(row, one)))
    if fresh:
        writing.changing([fresh[job_id] for job_id in sorted(fresh)])(connection)
    return written


def _is_written(row: Any, transition: Transition) -> bool:
    """Whether an earlier try wrote this very transition, and only the answer to its commit was lost."""
    new = transition.job
    return (row.ClaimToken, row.Status, row.UpdatedAt) == (new.claim_token, new.status, new.updated_at)


def _job_id(transition: Transition) -> int:
    return transition.job.job_id.int


def _claimed_id(released: tuple[Claim, datetime]) -> int:
    return released[0].job_id.int


def _later(now: datetime, seconds: float) -> datetime:
    return now + timedelta(seconds=seconds)
