"""What ``ports.jobs.JobStore`` promises about applying: all of a transition or nothing, and only under its claim.

Bind it with a subclass that has a fixture ``world``.
"""

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta
from uuid import uuid4

from fluxx.model.job import JobStatus
from fluxx.model.keeping import Keep
from fluxx.model.outcome import Extracted, NotReady, Outcome, Refused, Retry, Submitted
from fluxx.ports.jobs import Claim
from support.stores import LEASE, StoresWorld

LONG_WORDS = "größer als 0 発注書 📄 " * 40
RESULT = Extracted("results/1/2/3/result.json", 2**40, "f" * 64)


class ApplyingContract:
    async def test_every_field_of_the_new_row_is_written(self, world: StoresWorld) -> None:
        [job] = await world.queued(1)
        outcomes: list[Outcome] = [Submitted("HTTP 201"), NotReady(), Retry(LONG_WORDS), NotReady(3.5), RESULT]
        for outcome in outcomes:
            claimed = await world.jobs.seize(job.job_id, lease=LEASE)
            transition = world.transition(claimed, outcome)
            assert await world.jobs.apply(transition)
            assert await world.reader.job(job.job_id) == transition.job

    async def test_history_and_events_come_in_the_order_they_were_written(self, world: StoresWorld) -> None:
        [job] = await world.queued(1)
        first = (await world.reader.histories([job.job_id]))[job.job_id]
        written: list[JobStatus] = [*first]
        for outcome in (Submitted("HTTP 201"), *[NotReady()] * 20, RESULT):
            transition = world.transition(await world.jobs.seize(job.job_id, lease=LEASE), outcome)
            await world.jobs.apply(transition)
            written += transition.history
        assert (await world.reader.histories([job.job_id]))[job.job_id] == written
        assert await world.events(job.job_id) == ["JobQueued", "JobStarted", "JobSucceeded"]

    async def test_two_states_at_once_are_told_in_order(self, world: StoresWorld) -> None:
        [job] = await world.queued(1)
        await world.happened(job, RESULT)
        lines = (await world.reader.histories([job.job_id]))[job.job_id]
        assert [line.status for line in lines] == ["Queued", "Started", "Succeeded"]
        assert await world.events(job.job_id) == ["JobQueued", "JobStarted", "JobSucceeded"]

    async def test_a_lost_claim_writes_nothing(self, world: StoresWorld) -> None:
        late = await world.claimed()
        current = await world.jobs.seize(late.job_id, lease=LEASE)
        assert not await world.jobs.apply(world.transition(late, Submitted("late")))
        assert await world.reader.job(late.job_id) == current
        assert len((await world.reader.histories([late.job_id]))[late.job_id]) == 1
        assert await world.events(late.job_id) == ["JobQueued"]

    async def test_a_claim_that_ran_out_unnoticed_can_still_write(self, world: StoresWorld) -> None:
        held = await world.claimed()
        world.clock.jump(LEASE * 2)
        assert await world.jobs.apply(world.transition(held, Submitted("slow")))

    async def test_without_a_claim_nothing_is_written(self, world: StoresWorld) -> None:
        [job] = await world.queued(1)
        assert not await world.jobs.apply(world.transition(job, Refused("unclaimed")))
        assert await world.reader.job(job.job_id) == job
        assert len((await world.reader.histories([job.job_id]))[job.job_id]) == 1

    async def test_a_final_state_is_left_by_nothing(self, world: StoresWorld) -> None:
        held = await world.claimed()
        assert await world.jobs.apply(world.transition(held, Refused("no")))
        world.clock.jump(1)
        assert not await world.jobs.apply(world.transition(held, Submitted("late")))
        assert (await world.reader.job(held.job_id)).status_message == "no"

    async def test_a_group_is_written_but_for_those_fenced_out(self, world: StoresWorld) -> None:
        extractor = await world.extractor()
        held = [await world.claimed(extractor) for _ in range(12)]
        for stolen in held[::3]:
            await world.jobs.seize(stolen.job_id, lease=LEASE)
        written = await asyncio.gather(*(world.jobs.apply(world.transition(job, Submitted("ok"))) for job in held))
        assert written == [number % 3 != 0 for number in range(12)]
        for job, is_written in zip(held, written, strict=True):
            now = await world.reader.job(job.job_id)
            assert (now.status.value, now.claim_token is None) == ("Started" if is_written else "Queued", is_written)
            lines = (await world.reader.histories([job.job_id]))[job.job_id]
            assert [line.status for line in lines] == ["Queued", "Started"][: 1 + is_written]

    async def test_the_same_again_is_written_once_and_told_the_same(self, world: StoresWorld) -> None:
        held = await world.claimed()
        transition = world.transition(held, Submitted("HTTP 201"))
        assert await asyncio.gather(*(world.jobs.apply(transition) for _ in range(3))) == [True] * 3
        assert await world.jobs.apply(transition)  # the answer to the first commit may have been lost
        assert len((await world.reader.histories([held.job_id]))[held.job_id]) == 2
        assert await world.events(held.job_id) == ["JobQueued", "JobStarted"]

    async def test_a_kept_job_is_nobody_elses_until_a_lease_after_it_is_due(self, world: StoresWorld) -> None:
        held = await world.claimed()
        lease = timedelta(seconds=LEASE)
        first = world.transition(held, Submitted("HTTP 201", poll_after=2.0), keep=Keep(uuid4(), lease))
        assert await asyncio.gather(*(world.jobs.apply(first) for _ in range(3))) == [True] * 3
        assert await world.jobs.apply(first)  # the answer to the first commit may have been lost
        assert await world.reader.job(held.job_id) == first.job
        assert len((await world.reader.histories([held.job_id]))[held.job_id]) == 2
        world.clock.jump(LEASE)
        assert (await world.jobs.claim(lease=LEASE, limit=1)).jobs == []
        second = world.transition(first.job, NotReady(2.0), keep=Keep(uuid4(), lease))
        assert await world.jobs.apply(second)
        assert not await world.jobs.apply(world.transition(first.job, Refused("late")))
        world.clock.jump(LEASE + 3.0)
        [other] = (await world.jobs.claim(lease=LEASE, limit=1)).jobs
        assert (other.job_id, other.poll_attempt_count) == (held.job_id, 1)
        assert not await world.jobs.apply(world.transition(second.job, NotReady()))

    async def test_a_job_kept_at_the_moment_of_a_renewal_is_not_renewed_under_its_old_claim(
        self, world: StoresWorld
    ) -> None:
        extractor = await world.extractor()
        held = [await world.claimed(extractor) for _ in range(3)]
        claims = [Claim(job.job_id, job.claim_token) for job in held if job.claim_token]
        kept = world.transition(held[0], Submitted("HTTP 201"), keep=Keep(uuid4(), timedelta(seconds=LEASE)))
        assert await world.jobs.apply(kept)
        world.clock.jump(1)
        assert list(await world.jobs.renew(claims, lease=LEASE)) == claims[1:]
        assert await world.reader.job(held[0].job_id) == kept.job
        assert kept.job.claim_token is not None
        await world.jobs.release({claims[0]: world.clock.now()})
        assert await world.reader.job(held[0].job_id) == kept.job

    async def test_of_two_outcomes_under_one_claim_the_first_counts(self, world: StoresWorld) -> None:
        held = await world.claimed()
        first, second = world.transition(held, Submitted("HTTP 201")), world.transition(held, Refused("no"))
        assert await asyncio.gather(world.jobs.apply(first), world.jobs.apply(second)) == [True, False]
        assert await world.reader.job(held.job_id) == first.job

    async def test_processes_that_write_the_same_jobs_write_each_once(self, world: StoresWorld) -> None:
        extractor = await world.extractor()
        held = [await world.claimed(extractor) for _ in range(30)]
        async with AsyncExitStack() as stack:
            processes = [await stack.enter_async_context(world.another()) for _ in range(4)]
            written = await asyncio.gather(
                *(
                    process.jobs.apply(world.transition(job, Refused(f"by process {number}")))
                    for number, process in enumerate(processes)
                    for job in held[:: (-1) ** number]
                )
            )
        assert sum(written) == 30
        histories = await world.reader.histories([job.job_id for job in held])
        assert {len(lines) for lines in histories.values()} == {2}

    async def test_words_that_the_database_can_not_hold_hurt_only_their_own_job(self, world: StoresWorld) -> None:
        bad, good = await world.claimed(), await world.claimed()
        unheard_of = world.transition(bad, Submitted("nul \0 and half a pair \ud800"))
        _, written = await asyncio.gather(
            world.jobs.apply(unheard_of),
            world.jobs.apply(world.transition(good, Submitted("HTTP 201"))),
            return_exceptions=True,
        )
        assert written is True
        assert (await world.reader.job(good.job_id)).status == "Started"

    async def test_who_is_cancelled_while_writing_leaves_all_or_nothing(self, world: StoresWorld) -> None:
        held, next_one = await world.claimed(), await world.claimed()
        writing = asyncio.create_task(world.jobs.apply(world.transition(held, Submitted("HTTP 201"))))
        await asyncio.sleep(0)
        writing.cancel()
        assert await world.jobs.apply(world.transition(next_one, Submitted("after it")))
        told = [(await world.reader.job(held.job_id)).status]
        told.append((await world.reader.histories([held.job_id]))[held.job_id][-1].status)
        assert [f"Job{status}" for status in told] == (await world.events(held.job_id))[-1:] * 2
