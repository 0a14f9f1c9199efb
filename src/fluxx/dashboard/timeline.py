"""A job's history as a timeline: what took how long, with runs of the same poll folded. Pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from fluxx.model.job import JobStatus, Status

FOLD_FROM: Final = 4
"""So many "not ready" lines in a row are told as one."""


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the timeline: when, what, and how long until the next line (None: the last)."""

    status: Status
    message: str
    at: datetime
    until_next: timedelta | None
    is_change: bool
    folded: int = 0


def timeline_of(history: Sequence[JobStatus]) -> list[Moment]:
    """Return the timeline, oldest first."""
    moments: list[Moment] = []
    run: list[Moment] = []
    for place, line in enumerate(history):
        following = history[place + 1].timestamp if place + 1 < len(history) else None
        moment = Moment(
            status=line.status,
            message=line.message or line.status,
            at=line.timestamp,
            until_next=None if following is None else following - line.timestamp,
            is_change=place == 0 or history[place - 1].status is not line.status,
        )
        if not moment.is_change and moment.message.startswith("Not ready"):
            run.append(moment)
        else:
            moments.extend(_folded(run))
            run = []
            moments.append(moment)
    return [*moments, *_folded(run)]


def _folded(run: Sequence[Moment]) -> Sequence[Moment]:
    if len(run) < FOLD_FROM:
        return run
    first, last = run[0], run[-1]
    spans = [each.until_next for each in run]
    whole = None if spans[-1] is None else sum((span for span in spans if span), timedelta())
    message = f"{first.message.rstrip('.')} … {last.message.partition(' at ')[2] or last.message}"
    return [
        Moment(status=first.status, message=message, at=first.at, until_next=whole, is_change=False, folded=len(run))
    ]
