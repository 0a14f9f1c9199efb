"""``docs/state-machine.md``, drawn from ``transitions.TABLE`` and compared with it by a test."""

from typing import Final

from fluxx.model import outcome
from fluxx.model.job import FINAL, Status
from fluxx.model.transitions import EVENT_OF, TABLE, EventType

INTRODUCTION: Final = """\
# The states of a job

A job is queued when its file is accepted, started when its extractor took it, and ends as succeeded or failed.
Nothing leaves a final state. There are no other states: waiting, being claimed and being retried are a due time
and a counter, and a cancelled job is a failed one with a reason.

Steps (submit, poll, collect) talk to the world and come back with an *outcome*; the table below says what it means.
It is held in `src/fluxx/model/transitions.py`, the only place that decides.
"""

OUTCOMES: Final = """
## Outcomes

A closed set; nothing else changes a job.
"""

RULES: Final = {
    (Status.QUEUED, "Submitted"): "The first poll falls due after the extractor's wish, or `POLL_INTERVAL_SECONDS`.",
    (
        Status.QUEUED,
        "Extracted",
    ): "The answer to the submission held the result. History and events pass through Started.",
    (Status.QUEUED, "Retry"): (
        "Queued again, with backoff. Failed at `MAX_SUBMIT_ATTEMPTS` counted errors, or at the deadline."
    ),
    (Status.QUEUED, "Refused"): "The reason becomes the `StatusMessage`.",
    (Status.STARTED, "NotReady"): (
        "The poll is counted and the errors in a row are forgotten. Failed at `MAX_POLL_ATTEMPTS`, or at the deadline."
    ),
    (Status.STARTED, "Extracted"): "The result is stored and readable before the event says so.",
    (Status.STARTED, "Retry"): (
        "Started still, with backoff. Failed at `MAX_POLL_ERRORS` counted errors in a row, or at the deadline."
    ),
    (Status.STARTED, "Refused"): "The reason becomes the `StatusMessage`.",
}
"""What the table's entries mean besides the new state."""

FOOTER: Final = """
Every outcome writes the job's new row, its history rows and its events in one transaction, fenced by the claim under
which the step ran: if somebody else holds the job by then, nothing is written. No due time lies beyond the job's
deadline (`JOB_TIMEOUT_SECONDS` after it was queued).
"""


def render() -> str:
    """Return the whole page: a diagram, the table of rules, the outcomes."""
    return f"{INTRODUCTION}\n```mermaid\n{_diagram()}\n```\n\n{_rules()}\n{FOOTER}{OUTCOMES}\n{_outcomes()}\n"


def _diagram() -> str:
    lines = ["stateDiagram-v2", "    [*] --> Queued"]
    for old in TABLE:
        for new in Status:
            kinds = [kind for kind, reached in TABLE[old].items() if new in reached]
            if kinds:
                lines.append(f"    {old} --> {new}: {', '.join(_edge(old, kind, new) for kind in kinds)}")
    return "\n".join([*lines, *(f"    {status} --> [*]" for status in Status if status in FINAL)])


def _edge(old: Status, kind: str, new: Status) -> str:
    limited = new is Status.FAILED and len(TABLE[old][kind]) > 1
    return f"{kind} at a limit" if limited else kind


def _rules() -> str:
    rows = ["| State | Outcome | New state | Events | |", "| --- | --- | --- | --- | --- |"]
    for old, kinds in TABLE.items():
        for kind, reached in kinds.items():
            new = [status for status in Status if status in reached]
            events = ", ".join(f"`{event}`" for status in new for event in _events(old, status))
            rows.append(f"| {old} | {kind} | {' or '.join(new)} | {events} | {RULES[old, kind]} |")
        if not kinds:
            rows.append(f"| {old} | | | | Final. |")
    return "\n".join(rows)


def _events(old: Status, new: Status) -> list[EventType]:
    if new is old:
        return []
    leap = [EventType.JOB_STARTED] if (old, new) == (Status.QUEUED, Status.SUCCEEDED) else []
    return [*leap, EVENT_OF[new]]


def _outcomes() -> str:
    kinds = dict.fromkeys(kind for accepted in TABLE.values() for kind in accepted)
    return "\n".join(f"- **{kind}**: {_meaning(kind)}" for kind in kinds)


def _meaning(kind: str) -> str:
    words = (getattr(outcome, kind).__doc__ or "").split()
    return " ".join(words).replace("``", "`")
