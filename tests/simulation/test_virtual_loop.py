"""The event loop that a simulated day runs on."""

import asyncio

import pytest

from simulation.virtual_loop import Process, Stuck, VirtualLoop


def test_time_jumps_to_what_comes_next() -> None:
    loop = VirtualLoop()

    async def day() -> list[float]:
        times = [loop.time()]
        await asyncio.gather(asyncio.sleep(3600), asyncio.sleep(60))
        times.append(loop.time())
        try:
            async with asyncio.timeout(5):
                await asyncio.Event().wait()
        except TimeoutError:
            times.append(loop.time())
        return times

    assert loop.run_until_complete(day()) == [0.0, 3600.0, 3605.0]


def test_waiting_for_what_can_never_come_is_told() -> None:
    with pytest.raises(Stuck):
        VirtualLoop().run_until_complete(asyncio.Event().wait())


def test_a_killed_process_never_runs_again_and_a_frozen_one_only_later() -> None:
    loop = VirtualLoop()
    killed, frozen, well = (Process(name, loop) for name in ("killed", "frozen", "well"))
    seen: list[tuple[str, float]] = []

    async def live(name: str) -> None:
        try:
            for _ in range(3):
                await asyncio.sleep(1)
                seen.append((name, loop.time()))
        finally:
            seen.append((f"{name} ended", loop.time()))

    async def day() -> None:
        for process in (killed, frozen, well):
            process.start(live(process.name))
        await asyncio.sleep(1.5)
        killed.kill()
        frozen.freeze()
        await asyncio.sleep(8.5)
        frozen.thaw()
        await asyncio.sleep(5)

    loop.run_until_complete(day())
    assert [at for name, at in seen if name == "well"] == [1.0, 2.0, 3.0]
    assert [at for name, at in seen if name == "frozen"] == [1.0, 10.0, 11.0]
    assert [at for name, at in seen if name == "killed"] == [1.0]
    assert "killed ended" not in dict(seen)

    loop.run_until_complete(_buried(killed))
    assert "killed ended" in dict(seen)


async def _buried(process: Process) -> None:
    process.bury()
    await asyncio.wait(process.tasks)


def test_a_timer_that_was_cancelled_after_the_thaw_does_not_fire() -> None:
    loop = VirtualLoop()
    process = Process("frozen", loop)
    news = asyncio.Event()
    ends: list[str] = []

    async def wait_for_news() -> None:
        try:
            async with asyncio.timeout(1):
                await news.wait()
            ends.append("news")
        except TimeoutError:
            ends.append("timeout")

    async def day() -> None:
        process.start(wait_for_news())
        await asyncio.sleep(0.5)
        process.freeze()
        news.set()
        await asyncio.sleep(2)
        process.thaw()
        await asyncio.sleep(1)

    loop.run_until_complete(day())
    assert ends == ["news"]


def test_a_fuse_burns_in_the_middle_of_the_work() -> None:
    loop = VirtualLoop()
    process = Process("worker", loop)
    done: list[int] = []

    async def work() -> None:
        for number in range(10):
            done.append(number)
            await asyncio.sleep(0)

    async def day() -> None:
        process.light(4, process.kill)
        process.start(work())
        await asyncio.sleep(1)

    loop.run_until_complete(day())
    assert done == [0, 1, 2]
    loop.run_until_complete(_buried(process))
