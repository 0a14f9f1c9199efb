"""What ``ports.changes.Changes`` promises: every line of every history, in order, with what it is about.

Bind it with a subclass that has a fixture ``world``.
"""

from fluxx.model.outcome import Extracted, NotReady, Submitted
from support.stores import StoresWorld

RESULT = Extracted("results/1/2/3/result.json", 4096, "f" * 64)


class ChangesContract:
    async def test_every_line_comes_with_what_it_is_about(self, world: StoresWorld) -> None:
        [job] = await world.queued(1)
        await world.happened(job, Submitted("ok"), NotReady(), RESULT)
        found = await world.changes.newest(limit=10)
        assert [change.status.value for change in found] == ["Queued", "Started", "Started", "Succeeded"]
        assert {(change.job_id, change.file_id, change.client_application_id) for change in found} == {
            (job.job_id, job.file_id, job.client_application_id)
        }
        history = (await world.reader.histories([job.job_id]))[job.job_id]
        assert [change.timestamp for change in found] == [line.timestamp for line in history]

    async def test_reading_goes_on_after_a_number_and_asks_again_for_missing_ones(self, world: StoresWorld) -> None:
        await world.queued(6)
        everything = await world.changes.newest(limit=100)
        numbers = [change.change_id for change in everything]
        assert numbers == sorted(numbers)
        later = await world.changes.after(numbers[3], missing=[], limit=100)
        assert list(later) == list(everything[4:])
        with_missing = await world.changes.after(numbers[3], missing=[numbers[1], numbers[-1] + 99], limit=100)
        assert [change.change_id for change in with_missing] == [numbers[1], *numbers[4:]]
        assert len(await world.changes.after(0, missing=[], limit=2)) == 2
        assert list(await world.changes.newest(limit=2)) == list(everything[-2:])

    async def test_without_jobs_there_is_nothing(self, world: StoresWorld) -> None:
        assert await world.changes.newest(limit=10) == []
        assert await world.changes.after(0, missing=[1], limit=10) == []
