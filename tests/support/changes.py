"""Changes made up for those who follow them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from fluxx.model.job import Status
from fluxx.ports.changes import Change

AN_ID = UUID(int=1)


def changes(*numbers: int) -> list[Change]:
    """Changes of these numbers, all of one job."""
    return [
        Change(
            change_id=number,
            job_id=AN_ID,
            file_id=AN_ID,
            client_application_id=AN_ID,
            client_application_extractor_id=AN_ID,
            status=Status.QUEUED,
            message=None,
            attempt_number=0,
            timestamp=datetime(2026, 3, 1, tzinfo=UTC),
        )
        for number in numbers
    ]


class CountedChanges:
    """A ``Changes`` over a list that grows, counting how often it is read."""

    def __init__(self, count: int) -> None:
        self.all = changes(*range(1, count + 1))
        self.reads = 0

    def add(self, count: int) -> None:
        """Let ``count`` more changes happen."""
        self.all += changes(*range(len(self.all) + 1, len(self.all) + count + 1))

    async def newest(self, *, limit: int) -> Sequence[Change]:
        """See ``Changes.newest``."""
        return self.all[-limit:]

    async def after(self, change_id: int, *, missing: Sequence[int], limit: int) -> Sequence[Change]:  # noqa: ARG002 - a list has no gaps
        """See ``Changes.after``."""
        self.reads += 1
        return self.all[change_id : change_id + limit]
