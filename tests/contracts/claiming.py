"""What ``ports.jobs.JobStore`` promises about claims: nobody else has one, until the lease ends or it is taken.

Bind it with a subclass that has a fixture ``world``.
"""

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from msgspec.structs import replace

from fluxx.adapters.sql.database import SqlDatabase
from fluxx.errors import Conflict, NotFound
from fluxx.model.job import Job
from fluxx.model.outcome import NotReady, Refused, Retry, Submitted
from fluxx.ports.jobs import Claim, Due
from support.stores import LEASE, StoresWorld

PROCESSES = 4
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
AGAIN = timedelta(milliseconds=1)


def claim_of(job: Job) -> Claim:
    assert job.claim_token is not None
    return Claim(job.job_id, job.claim_token)


def ids(due: Due) -> list[UUID]:
    return [job.job_id for job in due.jobs]


class ClaimingContract:
    async def test_what_is_due_comes_longest_due_first_under_a_fresh_token(self, world: StoresWorld) -> None:
        queued = await world.queued(3)
        due = await world.jobs.claim(lease=LEASE, limit=10)
        assert ids(due) == [job.job_id for job in queued]
        assert [job.due_at for job in due.jobs] == [job.due_at for job in queued]
        tokens = [job.claim_token for job in due.jobs]
        assert None not in tokens
        held = await world.reader.job(queued[0].job_id)
        assert held.claim_token == tokens[0]
        assert held.due_at is not None
        assert timedelta(0) <= world.clock.now() + timedelta(seconds=LEASE) - held.due_at < timedelta(seconds=30)

    async def test_a_job_comes_with_all_that_is_known_of_it(self, world: StoresWorld) -> None:
        extractor = await world.extractor()
        new = replace(world.new_job(await world.file(extractor), extractor), trace_context=TRACE)
        await world.accepted(new)
        waiting = await world.happened(new, Submitted("taken"), NotReady(), NotReady(), Retry("busy"))
        world.clock.jump(600)
        [claimed] = (await world.jobs.claim(lease=LEASE, limit=1)).jobs
        assert claimed == replace(await world.reader.job(new.job_id), due_at=waiting.due_at)
        assert (claimed.poll_attempt_count, claimed.error_count, claimed.trace_context) == (2, 1, TRACE)

    async def test_no_more_than_the_limit_comes(self, world: StoresWorld) -> None:
        queued = await world.queued(5)
        due = await world.jobs.claim(lease=LEASE, limit=3)
        assert ids(due) == [job.job_id for job in queued[:3]]
        assert due.next_due_at is None
        assert len((await world.jobs.claim(lease=LEASE, limit=3)).jobs) == 2

    async def test_what_is_not_due_is_left_and_its_time_is_told(self, world: StoresWorld) -> None:
        extractor = await world.extractor()
        file = await world.file(extractor)
        later = world.new_job(file, extractor, key="later", due_in=30)
        await world.accepted(later, world.new_job(file, extractor, key="last", due_in=40))
        due = await world.jobs.claim(lease=LEASE, limit=10)
        assert (list(due.jobs), due.next_due_at) == ([], later.due_at)
        world.clock.jump(31)
        assert ids(await world.jobs.claim(lease=LEASE, limit=10)) == [later.job_id]

    async def test_what_falls_due_within_the_time_ahead_comes_as_it_falls_due(self, world: StoresWorld) -> None:
        extractor = await world.extractor()
        file = await world.file(extractor)
        soon, later = (world.new_job(file, extractor, key=str(due_in), due_in=due_in) for due_in in (5, 30))
        await world.accepted(soon, later)
        due = await world.jobs.claim(lease=LEASE, limit=10, ahead=10)
        assert [(job.job_id, job.due_at) for job in due.jobs] == [(soon.job_id, soon.due_at)]
        assert await world.jobs.claim(lease=LEASE, limit=10, ahead=10) == Due([], later.due_at)

    async def test_where_nothing_lives_nothing_is_due_next(self, world: StoresWorld) -> None:
        await world.happened((await world.queued(1))[0], Refused("no"))
        assert await world.jobs.claim(lease=LEASE, limit=10) == Due([])

    async def test_extractors_that_are_left_out_get_nothing(self, world: StoresWorld) -> None:
        full, free, other = [await world.extractor() for _ in range(3)]
        await world.queued(3, full)
        [wanted] = await world.queued(1, free)
        await world.queued(3, other)
        without = frozenset(one.client_application_extractor_id for one in (full, other))
        due = await world.jobs.claim(lease=LEASE, limit=10, without=without)
        assert ids(due) == [wanted.job_id]

    @pytest.mark.parametrize("limit", [1, 7, 100])
    async def test_claimers_in_many_processes_never_get_the_same_job(self, world: StoresWorld, limit: int) -> None:
        queued = [job.job_id for job in await world.queued(60 * min(limit, 5))]

        async def taken(process: SqlDatabase) -> list[UUID]:
            mine: list[UUID] = []
            for _ in range(1000):
                came = await process.jobs.claim(lease=LEASE, limit=limit)
                mine += ids(came)
                # Fewer than are due may come back, or none, while others have them locked.
                if not came.jobs and (came.next_due_at or world.clock.now()) > world.clock.now() + AGAIN:
                    break
            return mine

        async with AsyncExitStack() as stack:
            processes = [await stack.enter_async_context(world.another()) for _ in range(PROCESSES)]
            shares = await asyncio.gather(*(taken(process) for process in processes for _ in range(2)))
        came = [job_id for share in shares for job_id in share]
        came += ids(await world.jobs.claim(lease=LEASE, limit=1000))
        assert len(came) == len(set(came))
        assert set(came) == set(queued)

    async def test_a_job_whose_lease_is_over_is_claimed_anew(self, world: StoresWorld) -> None:
        [job] = await world.queued(1)
        [first] = (await world.jobs.claim(lease=LEASE, limit=10)).jobs
        world.clock.jump(LEASE - 5)
        assert (await world.jobs.claim(lease=LEASE, limit=10)).jobs == []
        world.clock.jump(6)
        [second] = (await world.jobs.claim(lease=LEASE, limit=10)).jobs
        assert second.job_id == first.job_id == job.job_id
        assert second.claim_token != first.claim_token

    async def test_a_renewed_claim_lasts_from_now(self, world: StoresWorld) -> None:
        job = await world.claimed()
        for _ in range(3):
            world.clock.jump(LEASE - 1)
            assert list(await world.jobs.renew([claim_of(job)], lease=LEASE)) == [claim_of(job)]
        assert (await world.jobs.claim(lease=LEASE, limit=10)).jobs == []

    async def test_a_claim_that_ran_out_unnoticed_can_still_be_renewed(self, world: StoresWorld) -> None:
        job = await world.claimed()
        world.clock.jump(LEASE + 100)
        assert list(await world.jobs.renew([claim_of(job)], lease=LEASE)) == [claim_of(job)]
        assert (await world.jobs.claim(lease=LEASE, limit=10)).jobs == []

    async def test_renewing_tells_which_claims_are_still_held(self, world: StoresWorld) -> None:
        kept, lost, over, freed = [await world.claimed() for _ in range(4)]
        await world.jobs.seize(lost.job_id, lease=LEASE)
        await world.jobs.apply(world.transition(over, Refused("no")))
        await world.jobs.release({claim_of(freed): world.clock.now()})
        claims = [claim_of(job) for job in (lost, kept, over, freed)]
        assert list(await world.jobs.renew([*claims, Claim(uuid4(), uuid4())], lease=LEASE)) == [claim_of(kept)]

    async def test_a_job_under_another_token_of_the_same_worker_is_another_claim(self, world: StoresWorld) -> None:
        old, other = await world.claimed(), await world.claimed()
        new = await world.jobs.seize(old.job_id, lease=LEASE)
        claims = [claim_of(old), Claim(other.job_id, claim_of(other).claim_token), claim_of(new)]
        assert list(await world.jobs.renew(claims, lease=LEASE)) == claims[1:]

    async def test_a_worker_may_hold_more_claims_than_one_statement_can_name(self, world: StoresWorld) -> None:
        first, last = claim_of(await world.claimed()), claim_of(await world.claimed())
        many = [first, *(Claim(uuid4(), uuid4()) for _ in range(2500)), last]
        assert list(await world.jobs.renew(many, lease=LEASE)) == [first, last]
        await world.jobs.release(dict.fromkeys(many, world.clock.now()))
        due = await world.jobs.claim(lease=LEASE, limit=10)
        assert {job.job_id for job in due.jobs} == {first.job_id, last.job_id}

    async def test_renewing_and_releasing_nothing_is_fine(self, world: StoresWorld) -> None:
        assert list(await world.jobs.renew([], lease=LEASE)) == []
        await world.jobs.release({})

    async def test_released_jobs_fall_due_when_they_say_and_lost_claims_are_passed_over(
        self, world: StoresWorld
    ) -> None:
        mine, lost, later = await world.claimed(), await world.claimed(), await world.claimed()
        theirs = await world.jobs.seize(lost.job_id, lease=LEASE)
        now = world.clock.now()
        in_a_while = now + timedelta(seconds=5)
        await world.jobs.release({claim_of(mine): now, claim_of(lost): now, claim_of(later): in_a_while})
        due = await world.jobs.claim(lease=LEASE, limit=10)
        assert ids(due) == [mine.job_id]
        assert (await world.jobs.claim(lease=LEASE, limit=10)).next_due_at == in_a_while
        world.clock.jump(5)
        assert ids(await world.jobs.claim(lease=LEASE, limit=10)) == [later.job_id]
        assert list(await world.jobs.renew([claim_of(theirs)], lease=LEASE)) == [claim_of(theirs)]

    async def test_a_job_is_seized_due_or_not_from_whoever_holds_it(self, world: StoresWorld) -> None:
        held = await world.claimed()
        taken = await world.jobs.seize(held.job_id, lease=LEASE)
        assert taken.claim_token not in {None, held.claim_token}
        assert not await world.jobs.apply(world.transition(held, Refused("late")))
        assert await world.jobs.apply(world.transition(taken, Refused("cancelled")))
        assert (await world.reader.job(held.job_id)).status_message == "cancelled"

    async def test_a_final_job_cannot_be_seized(self, world: StoresWorld) -> None:
        [job] = await world.queued(1)
        await world.happened(job, Refused("no"))
        with pytest.raises(Conflict):
            await world.jobs.seize(job.job_id, lease=LEASE)
        with pytest.raises(NotFound):
            await world.jobs.seize(uuid4(), lease=LEASE)

    async def test_of_many_who_seize_one_alone_can_write(self, world: StoresWorld) -> None:
        [job] = await world.queued(1)
        async with AsyncExitStack() as stack:
            processes = [await stack.enter_async_context(world.another()) for _ in range(PROCESSES)]

            async def cancelled(process: SqlDatabase) -> bool:
                try:
                    mine = await process.jobs.seize(job.job_id, lease=LEASE)
                except Conflict:
                    return False
                return await process.jobs.apply(world.transition(mine, Refused("cancelled")))

            written = await asyncio.gather(*(cancelled(process) for process in processes for _ in range(3)))
        assert sum(written) == 1
        assert len((await world.reader.histories([job.job_id]))[job.job_id]) == 2
