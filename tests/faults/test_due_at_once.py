"""A job may fall due before its worker heard that its last write is done: it isn't kept waiting for a lease."""

import asyncio
from collections import defaultdict
from pathlib import Path
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from fluxx.model.transitions import Transition
from fluxx.ports.jobs import Due, JobStore
from fluxx.wiring import World
from support.scripted import Reply, ScriptedExtractor
from support.service import house


class AnswersLate:
    """A store whose writes are answered when the job was claimed again already, unless it stays with its worker."""

    def __init__(self, inner: JobStore) -> None:
        self._inner = inner
        self._claimed: defaultdict[UUID, asyncio.Event] = defaultdict(asyncio.Event)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def claim(
        self, *, lease: float, limit: int, without: frozenset[UUID] = frozenset(), ahead: float = 0.0
    ) -> Due:
        due = await self._inner.claim(lease=lease, limit=limit, without=without, ahead=ahead)
        for job in due.jobs:
            self._claimed[job.job_id].set()
        return due

    async def apply(self, transition: Transition) -> bool:
        again = self._claimed[transition.job.job_id]
        again.clear()
        written = await self._inner.apply(transition)
        if transition.job.due_at is not None and transition.job.claim_token is None:
            await again.wait()
        return written


async def test_a_job_that_falls_due_at_once_is_not_held_until_its_lease_ends(tmp_path: Path) -> None:
    def around(world: World) -> World:
        return replace(world, jobs=AnswersLate(world.jobs))

    async with (
        ScriptedExtractor() as extractor,
        house(tmp_path, around=around, lease_seconds=600.0) as fluxx,
    ):
        extractor.on_poll(Reply(503), Reply(503))
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url)
        [job] = await fluxx.finished(await fluxx.upload(client))
    assert job["status"] == "Succeeded"
    assert [line["status"] for line in job["history"]] == ["Queued", *["Started"] * 3, "Succeeded"]
