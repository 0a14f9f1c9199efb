"""What is wrong now, in sentences, with where to look. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec

from fluxx.model.counts import Counts
from fluxx.model.job import Extractor
from fluxx.model.why import words_for
from fluxx.ports.observing import Backlog

LATE: Final = timedelta(seconds=30)
"""From here on, a file without jobs, something due or an event unpublished is a trouble."""

ALONE: Final = timedelta(seconds=5)
"""From here on, work without a worker is one: the only worker that restarts is back by then."""

RECENT_MINUTES: Final = 15
FEW: Final = 3
"""Fewer failures or errors than this are no pattern."""

MOST_FAIL: Final = 0.5


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong, and the page to look at."""

    sentence: str
    advice: str
    link: str | None = None


def troubles(
    backlog: Backlog,
    workers: Sequence[str],
    recent: Mapping[UUID, Counts],
    all_time: Mapping[UUID, Counts],
    extractors: Mapping[UUID, Extractor],
    now: datetime,
) -> list[Trouble]:
    """Return what is wrong; ``workers`` are there, ``recent`` holds the counts of the last ``RECENT_MINUTES``."""
    found = [*(_late(backlog, now) if workers else _alone(backlog, now)), *_untold(backlog, now)]
    for extractor_id, extractor in extractors.items():
        counts = recent.get(extractor_id, Counts())
        found.extend(_of_extractor(extractor, counts, all_time.get(extractor_id, Counts())))
    return found


def _alone(backlog: Backlog, now: datetime) -> Iterator[Trouble]:
    """Work that waits where no worker is there: neither the files nor the jobs need looking at."""
    since = min(filter(None, (backlog.oldest_file_at, backlog.oldest_due_at)), default=now)
    if now - since > ALONE:
        yield Trouble(
            sentence=f"No worker is there, and work has waited {words_for(now - since)} for one.",
            advice="Start one: fluxx up or fluxx worker. If one runs, its log says why it can't reach the database.",
        )


def _late(backlog: Backlog, now: datetime) -> Iterator[Trouble]:
    if backlog.oldest_file_at is not None and now - backlog.oldest_file_at > LATE:
        yield Trouble(
            sentence=f"An uploaded file has waited {words_for(now - backlog.oldest_file_at)} to be turned into jobs.",
            advice=(
                "The workers' log says why: mostly the registry (REGISTRATION_URL) or the bus can't be reached."
                " fluxx events --dead shows messages that were put aside."
            ),
        )
    if backlog.oldest_due_at is not None and now - backlog.oldest_due_at > LATE:
        yield Trouble(
            sentence=f"A job has been due for {words_for(now - backlog.oldest_due_at)}, and no worker took it.",
            advice="See whether the workers keep up; more of them share the work: fluxx worker.",
            link="/dashboard/jobs?status=Queued",
        )


def _untold(backlog: Backlog, now: datetime) -> Iterator[Trouble]:
    if backlog.oldest_event_at is not None and now - backlog.oldest_event_at > LATE:
        yield Trouble(
            sentence=f"An event has waited {words_for(now - backlog.oldest_event_at)} to be published.",
            advice="See whether a worker runs and the bus can be reached: /readyz.",
        )


def _of_extractor(extractor: Extractor, recent: Counts, all_time: Counts) -> Iterator[Trouble]:
    link = f"/dashboard/jobs?extractor={extractor.client_application_extractor_id}"
    if recent.failed >= FEW and recent.failed >= MOST_FAIL * recent.finished:
        yield Trouble(
            sentence=f"{extractor.name}: {recent.failed} of {recent.finished} jobs failed in {RECENT_MINUTES} minutes.",
            advice="Look at why, mend it, then retry them all at once.",
            link=f"{link}&status=Failed",
        )
    if recent.retries >= FEW and recent.retries > recent.finished:
        yield Trouble(
            sentence=f"{extractor.name}: {recent.retries} calls failed in {RECENT_MINUTES} minutes, to be repeated.",
            advice="See whether the extractor is up and keeps up.",
            link=f"{link}&status=Queued" if all_time.waiting else link,
        )
