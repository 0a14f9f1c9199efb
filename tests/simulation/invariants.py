"""What must hold after every day, whatever happened. Each yields what it finds wrong, in words."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import timedelta
from inspect import isfunction
from itertools import pairwise
from typing import Final, TypeAlias
from uuid import UUID, uuid5

from fluxx.errors import Unavailable
from fluxx.model.job import Job, Status
from fluxx.model.transitions import EVENT_OF
from fluxx.telemetry import LOOP_FAILED, MESSAGE_FAILED, STEP_FAILED
from simulation.evidence import Evidence

Invariant: TypeAlias = Callable[[Evidence], Iterator[str]]

OURS: Final = "This service can't go on just now"
"""How a wait begins that is nobody's attempt."""


def everything_comes_to_an_end(seen: Evidence) -> Iterator[str]:
    live = [job for job in seen.jobs.values() if not job.status.is_final]
    if not seen.settled or live or seen.inbox or seen.unpublished:
        yield f"{len(live)} jobs are live, {seen.inbox} is in the inbox, {seen.unpublished} events aren't published"


def nothing_fails_but_by_what_is_away(seen: Evidence) -> Iterator[str]:
    yield from seen.fallen
    for who, fact, fields in seen.told:
        error = fields.get("error")
        if fact in (STEP_FAILED, LOOP_FAILED, MESSAGE_FAILED) and not (
            isinstance(error, Unavailable) or error == Unavailable.__name__
        ):
            yield f"{who}: {fact.name} {fields!r}"


def every_accepted_file_has_one_job_per_active_extractor(seen: Evidence) -> Iterator[str]:
    firsts = Counter(
        (job.file_id, job.client_application_extractor_id)
        for job in seen.jobs.values()
        if job.idempotency_key == "accepted"
    )
    relics = {relic.file.file_id for relic in seen.desk.relics}
    active = [each for each in seen.desk.registered if each.active]
    for handed in seen.desk.handed:
        for extractor in active:
            count = firsts.pop((handed.file_id, extractor.extractor_id), 0) if extractor.client == handed.client else 1
            if count != 1 and (handed.certain or count > 1):
                yield f"file {handed.file_id} has {count} jobs for {extractor.name}"
    known = {each.extractor_id: each for each in active}
    for (file_id, extractor_id), count in firsts.items():
        owner = seen.files[file_id].client_application_id
        fits = extractor_id in known and known[extractor_id].client == owner
        if file_id not in relics and (count != 1 or not fits):
            yield f"file {file_id} of client {owner} has {count} jobs for extractor {extractor_id}"


def every_other_job_was_asked_for(seen: Evidence) -> Iterator[str]:
    again = Counter(job.idempotency_key for job in seen.jobs.values() if job.idempotency_key != "accepted")
    for key, count in again.items():
        kind, _, old = key.partition(":")
        if kind != "retry" or UUID(old) not in seen.desk.retried or count != 1:
            yield f"{count} jobs are there for {key}"


def every_job_ends_within_its_deadline(seen: Evidence) -> Iterator[str]:
    slack = timedelta(seconds=seen.plan.slack(len(seen.jobs)))
    for job in seen.lived:
        end = max(job.deadline_at, seen.clear_at) if not seen.plan.calm else job.deadline_at
        if job.completed_at is not None and job.completed_at > end + slack:
            yield f"job {job.job_id} ended {job.completed_at - end} late"


def every_history_is_in_order_and_agrees_with_its_job(seen: Evidence) -> Iterator[str]:
    for job_id, lines in seen.histories.items():
        job = seen.jobs.get(job_id)
        if job is None:
            yield f"job {job_id} is gone, its history isn't"
            continue
        statuses = [line.status for line in lines]
        path = [status for before, status in pairwise([None, *statuses]) if before is not status]
        if path not in ([*_way(job)], [Status.QUEUED, Status.FAILED]) or path[-1] is not job.status:
            yield f"job {job_id} is {job.status} and went {path}"
        if sum(status.is_final for status in statuses) > 1:
            yield f"job {job_id} ended more than once: {statuses}"
        if any(later.timestamp < earlier.timestamp for earlier, later in pairwise(lines)):
            yield f"job {job_id} went back in time"
        if any(later.attempt_number < earlier.attempt_number for earlier, later in pairwise(lines)):
            yield f"job {job_id} lost an attempt"
        last = lines[-1]
        told = (last.status, last.message, last.attempt_number, last.timestamp)
        if told != (job.status, job.status_message, job.poll_attempt_count, job.updated_at):
            yield f"job {job_id} says {job.status_message!r}, its history {last.message!r}"


def _way(job: Job) -> tuple[Status, ...]:
    return (Status.QUEUED, Status.STARTED, job.status)[: 3 if job.status.is_final else 2]


def every_event_is_published_once_under_one_id(seen: Evidence) -> Iterator[str]:
    counts = Counter(published.event.id for published in seen.published)
    for job_id, lines in seen.histories.items():
        for status in dict.fromkeys(line.status for line in lines):
            event_id = uuid5(job_id, EVENT_OF[status])
            if counts.pop(event_id, 0) != 1:
                yield f"job {job_id} was {status}, but that wasn't told once"
    relics = {relic.job.job_id for relic in seen.desk.relics}
    for published in seen.published:
        if published.event.id in counts and published.event.data.job_id not in relics:
            yield f"{published.event.type} of job {published.event.subject} was told, but never happened"
        if published.message_id != str(published.event.id) or published.order_key != published.event.subject:
            yield f"event {published.event.id} came as message {published.message_id} of {published.order_key}"


def the_events_of_a_job_come_in_order(seen: Evidence) -> Iterator[str]:
    kinds = {published.event.id: published.event.type.rpartition(".Job")[2] for published in seen.published}
    jobs = {published.event.id: published.event.data.job_id for published in seen.published}
    order = ["Queued", "Started", "Succeeded", "Failed"]
    for sent, what in (([one.event.id for one in seen.published], "topic"), (seen.broadcast, "broker")):
        came: dict[UUID, list[int]] = defaultdict(list)
        for event_id in dict.fromkeys(sent):
            if event_id in kinds:
                came[jobs[event_id]].append(order.index(kinds[event_id]))
        yield from (f"{what}: job {job_id} {ranks}" for job_id, ranks in came.items() if ranks != sorted(ranks))


def no_event_is_sent_twice_for_nothing(seen: Evidence) -> Iterator[str]:
    twice = [event_id for event_id, count in Counter(seen.broadcast).items() if count > 1]
    if seen.plan.calm and twice:
        yield f"{len(twice)} events were sent twice under a calm sky"


def what_an_event_tells_is_true_by_then(seen: Evidence) -> Iterator[str]:
    yield from (f"{one.event.type} of {one.event.subject}: {one.wrong}" for one in seen.published if one.wrong)


def every_success_has_its_result(seen: Evidence) -> Iterator[str]:
    for job in seen.lived:
        if job.status is not Status.SUCCEEDED:
            continue
        content = seen.blobs.get(job.extractor_response or "")
        extractor = seen.extractors[seen.name(job)]
        if job.extractor_response != job.result_path or content is None:
            yield f"job {job.job_id} has no result"
        elif (len(content), hashlib.sha256(content).hexdigest()) != (job.result_size, job.result_sha256):
            yield f"job {job.job_id} has another result than it says"
        elif content not in extractor.jobs[job.job_id].given:
            yield f"job {job.job_id} has a result that {extractor.name} never gave"


def attempts_stay_within_their_limits(seen: Evidence) -> Iterator[str]:
    limits = seen.limits
    for job in seen.lived:
        lines = seen.histories[job.job_id]
        counted = [line for line in lines if not (line.message or "").startswith(OURS)]
        submitted = sum(line.status is Status.QUEUED for line in counted[1:])
        if submitted >= limits.max_submit_attempts:
            yield f"job {job.job_id} was tried again {submitted} times"
        if job.poll_attempt_count > limits.max_poll_attempts:
            yield f"job {job.job_id} was polled {job.poll_attempt_count} times"
        run = longest = 0
        for earlier, later in pairwise(counted):
            is_error = (
                later.status is earlier.status is Status.STARTED and earlier.attempt_number == later.attempt_number
            )
            run = run + 1 if is_error else 0
            longest = max(longest, run)
        if longest >= limits.max_poll_errors:
            yield f"job {job.job_id} had {longest} errors in a row"
        due = job.due_at
        if due is not None and due > job.deadline_at:
            yield f"job {job.job_id} falls due after its deadline"


def every_call_of_a_job_carries_its_id(seen: Evidence) -> Iterator[str]:
    for asked in seen.asked:
        if asked.kind == "submit" and asked.idempotency_key != str(asked.job_id):
            yield f"job {asked.job_id} was submitted as {asked.idempotency_key}"
        if asked.job_id not in seen.jobs:
            yield f"{asked.extractor} was asked about {asked.job_id}, which is no job"


def no_step_is_done_twice_for_nothing(seen: Evidence) -> Iterator[str]:
    """Under a calm sky, every call that arrived is in the history (a rejected key is tried once more)."""
    if not seen.plan.calm:
        return
    arrived = [asked for asked in seen.asked if asked.status not in (401, 403) and asked.kind != "download"]
    for (job_id, kind), count in Counter((asked.job_id, asked.kind) for asked in arrived).items():
        statuses = [line.status for line in seen.histories.get(job_id, ())]
        submissions = statuses.count(Status.QUEUED)
        known = submissions if kind == "submit" else len(statuses) - submissions - 1
        if count > known and job_id not in seen.desk.cancelled:
            yield f"{kind} of job {job_id} was done {count} times, {known} are known"


def every_file_is_there_when_it_is_submitted(seen: Evidence) -> Iterator[str]:
    yield from (f"the file of job {asked.job_id} couldn't be read" for asked in seen.asked if not asked.readable)


def no_extractor_sees_a_strange_file(seen: Evidence) -> Iterator[str]:
    clients = {each.name: each for each in seen.desk.registered}
    for asked in seen.asked:
        job, extractor = seen.jobs.get(asked.job_id), clients[asked.extractor]
        if job is None:
            continue
        if (job.client_application_id, job.client_application_extractor_id) != (
            extractor.client,
            extractor.extractor_id,
        ):
            yield f"{asked.extractor} was asked about job {asked.job_id} of another"
        if seen.files[job.file_id].client_application_id != extractor.client:
            yield f"{asked.extractor} saw a file of client {seen.files[job.file_id].client_application_id}"


def nothing_secret_is_stored_or_told(seen: Evidence) -> Iterator[str]:
    told = [f"{fact.name} {fields}" for _, fact, fields in seen.told]
    secrets = [*seen.desk.secrets, "canary-result", *_signatures(seen)]
    for text in [*seen.texts, *told]:
        yield from (f"{secret} in {text[:200]!r}" for secret in secrets if secret in text)


def _signatures(seen: Evidence) -> set[str]:
    urls = [asked.file_url for asked in seen.asked if asked.file_url]
    return {url.partition("signature=")[2] for url in urls if "signature=" in url}


def poison_and_nothing_else_is_put_aside(seen: Evidence) -> Iterator[str]:
    for message_id, reason in seen.dead.items():
        if seen.desk.poison.get(message_id) != reason:
            yield f"message {message_id} was put aside: {reason}"
    certain = [message_id for message_id in seen.desk.poisoned if message_id not in seen.dead]
    if certain:
        yield f"{certain} were not put aside"


def every_failure_has_its_cause(seen: Evidence) -> Iterator[str]:
    for job in seen.lived:
        if job.status is not Status.FAILED:
            continue
        reason, name = job.status_message or "", seen.name(job)
        ended = seen.extractors[name].jobs.get(job.job_id)
        causes = {
            "Cancelled": job.job_id in seen.desk.cancelled,
            "No API key is stored": not next(each for each in seen.desk.registered if each.name == name).has_key,
            "MAX_POLL_ATTEMPTS": job.poll_attempt_count == seen.limits.max_poll_attempts,
            "JOB_TIMEOUT_SECONDS": job.updated_at >= job.deadline_at,
            "MAX_SUBMIT_ATTEMPTS": job.error_count == seen.limits.max_submit_attempts,
            "MAX_POLL_ERRORS": job.error_count == seen.limits.max_poll_errors,
            "Extractor reported": ended is not None and ended.ended == "reported",
            "The extractor refused the": ended is not None and ended.ended == "refused",
            # A rejected key is read again once: twice in a row is too much for a call that is under way.
            "rejected the API key": seen.extractors[name].rotations > 1,
        }
        if not any(true for words, true in causes.items() if words in reason):
            yield f"job {job.job_id} failed: {reason}"


def what_is_old_is_forgotten_and_nothing_else(seen: Evidence) -> Iterator[str]:
    again = {job.file_id for job in seen.jobs.values()}
    for relic in seen.desk.relics:
        if relic.job.job_id in seen.jobs or relic.job.result_path in seen.blobs:
            yield f"job {relic.job.job_id} is remembered"
        kept = relic.file.file_id in again
        if (relic.file.file_id in seen.files, relic.file.blob_path in seen.blobs) != (kept, kept):
            yield f"file {relic.file.file_id} is {'forgotten' if kept else 'remembered'}"
    for handed in seen.desk.handed:
        if handed.certain and handed.file_id not in seen.files:
            yield f"file {handed.file_id} is forgotten"


def the_counts_agree_with_the_histories(seen: Evidence) -> Iterator[str]:
    expected: dict[UUID, Counter[str]] = defaultdict(Counter)
    for relic in seen.desk.relics:
        if relic.job.job_id not in seen.jobs:
            expected[relic.job.client_application_extractor_id].update(["queued", "started", "succeeded", "polls"])
    for job in seen.jobs.values():
        lines = seen.histories[job.job_id]
        way = list(dict.fromkeys(line.status for line in lines))
        counted = expected[job.client_application_extractor_id]
        counted.update(status.value.lower() for status in way)
        counted["unstarted"] += way == [Status.QUEUED, Status.FAILED]
        counted["polls"] += job.poll_attempt_count
        counted["retries"] += sum(
            later.status is earlier.status and later.attempt_number == earlier.attempt_number
            for earlier, later in pairwise(lines)
        )
    for extractor_id, counted in expected.items():
        if +counted != seen.counts[extractor_id]:
            yield f"extractor {extractor_id}: {dict(+counted)} happened, {dict(seen.counts[extractor_id])} is counted"


ALL: Final[tuple[Invariant, ...]] = tuple(
    each for name, each in globals().items() if isfunction(each) and each.__module__ == __name__ and name[0] != "_"
)
"""Every function above that isn't private."""


def violations(seen: Evidence) -> list[str]:
    """Return what is broken, each with the name of its invariant."""
    return [f"{invariant.__name__}: {wrong}" for invariant in ALL for wrong in invariant(seen)]
