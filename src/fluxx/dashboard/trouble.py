"""What is wrong now, in sentences, with where to look. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec

from fluxx.model.counts import Counts
from fluxx.model.job import Extractor, Job, Status
from fluxx.model.kinds import KEY, kind_of
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

LOOKED_AT: Final = 100
"""Of the latest failed jobs so many are to be looked at, for those of which one is enough to know."""


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong, and the page to look at."""

    sentence: str
    advice: str
    link: str | None = None


def troubles(
    backlog: Backlog,
    *,
    workers: Sequence[str],
    recent: Mapping[UUID, Counts],
    all_time: Mapping[UUID, Counts],
    extractors: Mapping[UUID, Extractor],
    failed: Sequence[Job],
    now: datetime,
) -> list[Trouble]:
    """Return what is wrong.

    ``workers`` are there, ``recent`` holds the counts of the last ``RECENT_MINUTES``, ``failed`` the latest failures.
    """
    found = [*(_late(backlog, now) if workers else _alone(backlog, now)), *_untold(backlog, now)]
    keyless = {job.client_application_extractor_id for job in failed if _tells_of_a_key(job, now)}
    for extractor_id, extractor in extractors.items():
        counts = recent.get(extractor_id, Counts())
        found.extend(_keyless(extractor) if extractor_id in keyless else ())
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


def _tells_of_a_key(job: Job, now: datetime) -> bool:
    return kind_of(job.status_message) is KEY and now - job.updated_at <= timedelta(minutes=RECENT_MINUTES)


def _keyless(extractor: Extractor) -> Iterator[Trouble]:
    """One failure is enough to know: every job goes the same way."""
    yield Trouble(
        sentence=f"{extractor.name}: its API key was missing or rejected in the last {RECENT_MINUTES} minutes.",
        advice=KEY.advice,
        link=_jobs_of(extractor, Status.FAILED),
    )


def _of_extractor(extractor: Extractor, recent: Counts, all_time: Counts) -> Iterator[Trouble]:
    finished = f"{recent.failed} of {recent.finished} jobs"
    failing = recent.failed >= FEW and recent.failed >= MOST_FAIL * recent.finished
    if failing:
        yield Trouble(
            sentence=f"{extractor.name}: {finished} failed in {RECENT_MINUTES} minutes.",
            advice="Look at why, mend it, then retry them all at once.",
            link=_jobs_of(extractor, Status.FAILED),
        )
    if recent.retries < FEW or recent.retries <= recent.finished:
        return
    sentence = f"{extractor.name}: {recent.retries} calls failed in {RECENT_MINUTES} minutes"
    if all_time.waiting or all_time.working:
        yield Trouble(
            sentence=f"{sentence}, to be repeated.",
            advice="See whether the extractor is up and keeps up.",
            link=_jobs_of(extractor, Status.QUEUED if all_time.waiting else Status.STARTED),
        )
    elif recent.failed and not failing:
        yield Trouble(
            sentence=f"{sentence}, and {finished} with them.",
            advice="Look at why, see whether the extractor is up again, then retry.",
            link=_jobs_of(extractor, Status.FAILED),
        )


def _jobs_of(extractor: Extractor, status: Status) -> str:
    return f"/dashboard/jobs?extractor={extractor.client_application_extractor_id}&status={status}"
