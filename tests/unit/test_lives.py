"""A job's whole life: what holds whatever happens to it, in whatever order."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID, uuid5

from hypothesis import given
from hypothesis import strategies as st

from fluxx.model import transitions
from fluxx.model.deadlines import Limits
from fluxx.model.job import FINAL, Job, JobStatus, Status
from fluxx.model.outcome import Extracted, NotReady, Outcome, Refused, Retry, Submitted
from fluxx.model.transitions import EVENT_OF, IllegalTransition, JobEvent

START = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)

wishes = st.none() | st.floats(0, 1e6)
outcomes: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(Submitted, st.text(max_size=9), wishes),
    st.builds(NotReady, wishes),
    st.builds(Extracted, st.just("p"), st.integers(0), st.just("ab"), st.booleans()),
    st.builds(Retry, st.text(max_size=9), wishes, st.booleans()),
    st.builds(Refused, st.text(max_size=2000)),
)
any_limits = st.builds(
    Limits,
    max_submit_attempts=st.integers(1, 4),
    max_poll_attempts=st.integers(1, 6),
    max_poll_errors=st.integers(1, 4),
    poll_backoff_factor=st.floats(1, 4),
    job_timeout=st.floats(1, 5000),
)
steps = st.lists(st.tuples(outcomes, st.floats(-5, 500), st.floats(0, 1, exclude_max=True)), max_size=30)


class Life:
    """A job, and everything that was written about it."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        first = Job(
            job_id=UUID(int=1),
            file_id=UUID(int=2),
            client_application_id=UUID(int=3),
            client_application_extractor_id=UUID(int=4),
            status=Status.QUEUED,
            status_message=None,
            created_at=START,
            updated_at=START,
            deadline_at=START + timedelta(seconds=limits.job_timeout),
            due_at=START,
            idempotency_key="first",
        )
        self.jobs: list[Job] = [first]
        queuing = transitions.queue(first)
        self.history: list[JobStatus] = [*queuing.history]
        self.events: list[JobEvent] = [*queuing.events]

    def live(self, steps: Sequence[tuple[Outcome, float, float]]) -> None:
        now = START
        for outcome, seconds, jitter in steps:
            now += timedelta(seconds=seconds)
            try:
                step = transitions.apply(self.jobs[-1], outcome, now=now, limits=self.limits, jitter=jitter)
            except IllegalTransition:
                continue
            self.jobs.append(step.job)
            self.history += step.history
            self.events += step.events


@given(limits=any_limits, steps=steps)
def test_whatever_happens_to_a_job_in_whatever_order(limits: Limits, steps: list[tuple[Outcome, float, float]]) -> None:
    life = Life(limits)
    life.live(steps)
    last = life.jobs[-1]
    for old, new in pairwise(life.jobs):
        assert old.status not in FINAL, "a final state never changes"
        assert new.poll_attempt_count >= old.poll_attempt_count
        assert new.updated_at >= old.updated_at
        assert (new.due_at is None) == (new.completed_at is not None) == (new.status in FINAL)
        assert new.due_at is None or new.updated_at <= new.due_at <= max(new.deadline_at, new.updated_at)
        assert len(new.status_message or "") <= 1000
    assert last.poll_attempt_count <= limits.max_poll_attempts + 1, "the one more is the poll that brings the result"
    assert (last.status is Status.SUCCEEDED) == (last.extractor_response is not None)

    seen = [line.status for line in life.history]
    assert (seen[-1], life.history[-1].attempt_number) == (last.status, last.poll_attempt_count)
    assert life.history[-1].timestamp == last.updated_at
    assert len(life.jobs) == 1 or life.history[-1].message == last.status_message
    assert sum(status in FINAL for status in seen) == (last.status in FINAL)
    order = [Status.QUEUED, Status.STARTED, Status.SUCCEEDED, Status.FAILED]
    assert all(order.index(old) <= order.index(new) for old, new in pairwise(seen))
    for before, after in pairwise(life.history):
        assert (before.timestamp, before.attempt_number) <= (after.timestamp, after.attempt_number)

    assert [event.type for event in life.events] == [EVENT_OF[status] for status in dict.fromkeys(seen)]
    assert len({event.event_id for event in life.events}) == len(life.events)
    assert all(event.event_id == uuid5(event.job_id, event.type) for event in life.events)


@given(limits=any_limits, steps=steps)
def test_the_same_life_twice_is_written_the_same(limits: Limits, steps: list[tuple[Outcome, float, float]]) -> None:
    once, twice = Life(limits), Life(limits)
    once.live(steps)
    twice.live(steps)
    assert (once.jobs, once.history, once.events) == (twice.jobs, twice.history, twice.events)
