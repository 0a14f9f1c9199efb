"""Facts, not log lines: everything worth telling is named here once, with level, wording and fields.

The code tells facts; this module turns each into a log line and a counter. Tests assert on facts.
Field values of a fact are ids, numbers and scrubbed text, never bodies, keys or signed URLs. What errors say of
themselves is not ours, so warnings and errors are scrubbed once more on their way into the log.
"""

import logging
import sys
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from contextvars import Token
from types import TracebackType
from typing import Any, TextIO

import msgspec
import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge

from fluxx.distributions import PREFIX, Distribution, Distributions, Measure
from fluxx.scrubbing import masked
from fluxx.tracing import Kind, NoTracing, Span, Tracing, current, trace_id_of


class Fact(msgspec.Struct, frozen=True):
    """Something that happened. ``labels`` names the fields that its counter is split by.

    The counter grows by one, or by the number in the field ``amount``.
    """

    name: str
    level: int
    wording: str
    labels: tuple[str, ...] = ()
    amount: str | None = None


class Level(msgspec.Struct, frozen=True):
    """How much of something there is now: a Prometheus gauge."""

    name: str
    wording: str
    labels: tuple[str, ...] = ()


# The life of a file
FILE_UPLOADED = Fact("file_uploaded", logging.INFO, "File {file_id} uploaded: {size} bytes")
FILE_ACCEPTED = Fact("file_accepted", logging.INFO, "File {file_id} accepted; new jobs: {new_jobs}")
MESSAGE_POISONED = Fact(
    "message_poisoned", logging.WARNING, "Message {message_id} dead-lettered: {reason}: {description}", ("reason",)
)
MESSAGE_ABANDONED = Fact("message_abandoned", logging.WARNING, "Message {message_id} will come again: {error}")
MESSAGE_FAILED = Fact("message_failed", logging.ERROR, "Message {message_id}: unexpected {error}")
JOBS_CLAIMED = Fact("jobs_claimed", logging.DEBUG, "Claimed {count} due jobs", amount="count")
JOBS_GIVEN_BACK = Fact(
    "jobs_given_back", logging.DEBUG, "Gave {count} kept jobs back: no free slot, late, or stopping", amount="count"
)
JOB_STARTED = Fact("job_started", logging.INFO, "Job {job_id} started: {message}")
JOB_NOT_READY = Fact("job_not_ready", logging.DEBUG, "Job {job_id}: {message}")
JOB_RETRYING = Fact("job_retrying", logging.WARNING, "Job {job_id}: {message}")
JOB_SUCCEEDED = Fact("job_succeeded", logging.INFO, "Job {job_id} succeeded: {message}")
JOB_FAILED = Fact("job_failed", logging.ERROR, "Job {job_id} failed: {message}", ("kind",))
JOB_CANCELLED = Fact("job_cancelled", logging.INFO, "Job {job_id} cancelled")
CLAIM_LOST = Fact("claim_lost", logging.INFO, "Job {job_id}: the claim was lost, the work is dropped")
OUTCOME_DROPPED = Fact(
    "outcome_dropped",
    logging.WARNING,
    "Job {job_id}: what came of it can't be written, so it falls due again: {error}",
)
STEP_FAILED = Fact("step_failed", logging.ERROR, "Job {job_id}: unexpected {error}")
VAULT_RETRYING = Fact("vault_retrying", logging.WARNING, "The Key Vault is asked again: {error}")
EVENTS_PUBLISHED = Fact("events_published", logging.DEBUG, "Published {count} events", amount="count")

# The reference extractors
EXTRACTION_WORKER_STARTED = Fact("extraction_worker_started", logging.DEBUG, "Extraction process {pid} started")
EXTRACTION_FINISHED = Fact(
    "extraction_finished", logging.INFO, "Extraction {job_id} ({kind}) finished: {size} bytes", ("kind",)
)
EXTRACTION_FAILED = Fact(
    "extraction_failed", logging.WARNING, "Extraction {job_id} ({kind}) failed: {reason}", ("kind",)
)
PURGED = Fact("purged", logging.INFO, "Forgot {jobs} jobs, {files} files and {messages} messages")

# The service
PART_STARTED = Fact("part_started", logging.DEBUG, "Started {part}")
PART_STOPPED = Fact("part_stopped", logging.DEBUG, "Stopped {part} (drained: {drained})")
LOOP_FAILED = Fact("loop_failed", logging.WARNING, "Loop {loop} will try again: {error}", ("loop",))
PART_AWAY = Fact("part_away", logging.WARNING, "Starting without {part}, which may come back: {error}", ("part",))
SERVICE_READY = Fact("service_ready", logging.INFO, "Ready at {url}")
SERVICE_DRAINING = Fact("service_draining", logging.INFO, "Draining")
SERVICE_STOPPED = Fact("service_stopped", logging.INFO, "Stopped")
CLOCK_OFF = Fact(
    "clock_off",
    logging.WARNING,
    "The database's clock is {seconds} s ahead of this machine's; it is the one that counts",
)
REQUEST_FAILED = Fact("request_failed", logging.ERROR, "{method} {path} failed unexpectedly: {error}")
REQUEST_UNAVAILABLE = Fact("request_unavailable", logging.WARNING, "{method} {path} answered with 503: {error}")
WATCHER_DROPPED = Fact("watcher_dropped", logging.INFO, "One who follows jobs live read too slowly and was dropped")
CALLER_REFUSED = Fact("caller_refused", logging.INFO, "{method} {path} refused: {reason}", ("reason",))
ISSUER_AWAY = Fact("issuer_away", logging.WARNING, "The keys of AUTH_ISSUER can't be read: {error}")

SUBMIT_SECONDS = Measure("submit_seconds", "How long a submission took", ("outcome",))
POLL_SECONDS = Measure("poll_seconds", "How long a poll took, result included", ("outcome",))
LATENESS_SECONDS = Measure("lateness_seconds", "How long after it was due a job was begun")
COLLECT_SECONDS = Measure("collect_seconds", "How long it took to store a result, its download included", ("outcome",))
CALL_SECONDS = Measure(
    "call_seconds", "How long a call to the bus, the storage or the vault took", ("part", "call", "outcome")
)
LOOP_REST_SECONDS = Measure("loop_rest_seconds", "How long a loop rested after a step", ("loop",))
GROUP_SIZE = Measure("commit_group_size", "Transitions written per commit", (), (1, 2, 5, 10, 20, 50, 100, 200, 500))


JOBS = Level("jobs", "Jobs that are alive now, by state and extractor", ("status", "extractor", "name"))
JOBS_FINISHED = Level(
    "jobs_finished", "Jobs that ended since the beginning, forgotten ones included", ("status", "extractor", "name")
)
WORKERS = Level("workers", "Workers that are there now")
OLDEST_FILE_SECONDS = Level(
    "oldest_file_seconds",
    "For how long the oldest uploaded file (of the last day) has waited to be turned into jobs; 0 where none does",
)
OLDEST_DUE_SECONDS = Level("oldest_due_seconds", "For how long the longest due job has been due; 0 where none is")
OUTBOX_LAG_SECONDS = Level(
    "outbox_lag_seconds", "For how long the oldest unpublished event has waited; 0 where none does"
)


class Facts:
    """Where facts are told. One instance is made by the wiring and handed to everybody."""

    def __init__(self, logger: Any = None, *, level: int = logging.INFO, tracing: Tracing | None = None) -> None:
        self.registry = CollectorRegistry()
        self._tracing = tracing or NoTracing()
        self._traces = not isinstance(self._tracing, NoTracing)
        self._logger = logger
        self._level = level
        self._listeners: list[Callable[[Fact, dict[str, Any]], None]] = []
        self._counters: dict[str, Counter] = {}
        self._distributions: dict[str, Distributions] = {}
        self._observed: dict[tuple[str, tuple[str, ...]], Distribution] = {}
        self._gauges: dict[str, Gauge] = {}

    def listen(self, listener: Callable[[Fact, dict[str, Any]], None]) -> None:
        """Call ``listener(fact, fields)`` for every fact from now on."""
        self._listeners.append(listener)

    def tell(
        self, fact: Fact, /, *, trace: BaseException | None = None, secrets: Sequence[str] = (), **fields: Any
    ) -> None:
        """Tell that something happened. ``trace`` adds a traceback to the log line; ``secrets`` are masked in it."""
        counter = self._counters.get(fact.name) or self._counter(fact)
        amount = 1 if fact.amount is None else fields[fact.amount]
        (counter.labels(*(str(fields[label]) for label in fact.labels)) if fact.labels else counter).inc(amount)
        for listener in self._listeners:
            listener(fact, fields)
        if self._logger is not None and fact.level >= self._level:
            wording = fact.wording.format_map(fields)
            shown = {name: str(value) for name, value in fields.items()}
            if trace_id := trace_id_of(current.get()):
                shown["trace_id"] = trace_id
            self._logger.log(fact.level, wording, fact=fact.name, exc_info=trace, _secrets=secrets, **shown)

    def traced(self, parent: str | None) -> bool:
        """Whether a span below ``parent``, or below the running one, is of any trace: here or elsewhere."""
        return self._traces or parent is not None or current.get() is not None

    def span(
        self, name: str, *, kind: Kind = "internal", parent: str | None = None, **attributes: object
    ) -> AbstractContextManager[Span]:
        """Do the block's work as a span of the trace of ``parent`` (else of the running span, else of a new one)."""
        if not self.traced(parent):
            return nullcontext(Span(None))
        parent = parent or current.get()
        return _Within(self._tracing.span(name, kind=kind, parent=parent, attributes=attributes))

    def observe(self, measure: Measure, value: float, *labels: str) -> None:
        """Add one value to a distribution."""
        distribution = self._observed.get((measure.name, labels))
        if distribution is None:
            distribution = self._observed[measure.name, labels] = self._distribution(measure, labels)
        distribution.add(value)

    def level(self, level: Level, values: Mapping[tuple[str, ...], float]) -> None:
        """Set how much there is now, by the values of the labels; what is left out is gone."""
        gauge = self._gauges.get(level.name) or self._gauge(level)
        if not level.labels:
            gauge.set(values[()])
            return
        gauge.clear()
        for labels, value in values.items():
            gauge.labels(*labels).set(value)

    def _distribution(self, measure: Measure, labels: tuple[str, ...]) -> Distribution:
        distributions = self._distributions.get(measure.name)
        if distributions is None:
            distributions = self._distributions[measure.name] = Distributions(measure)
            self.registry.register(distributions)
        return distributions.of(labels)

    def _gauge(self, level: Level) -> Gauge:
        made = Gauge(PREFIX + level.name, level.wording, level.labels, registry=self.registry)
        return self._gauges.setdefault(level.name, made)

    def _counter(self, fact: Fact) -> Counter:
        made = Counter(PREFIX + fact.name, fact.wording, fact.labels, registry=self.registry)
        return self._counters.setdefault(fact.name, made)


class _Within:
    """Makes a span the running one. No generator: every poll comes through here, and pays for it without traces too."""

    __slots__ = ("_span", "_token")

    def __init__(self, span: AbstractContextManager[Span]) -> None:
        self._span = span

    def __enter__(self) -> Span:
        opened = self._span.__enter__()
        self._token: Token[str | None] = current.set(opened.traceparent)
        return opened

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        current.reset(self._token)
        return self._span.__exit__(kind, error, trace)


class Foreign(logging.Handler):
    """Puts what libraries log (asyncio's forgotten errors, an SDK's warnings) into our log, scrubbed like the rest."""

    def __init__(self, logger: Any) -> None:
        super().__init__(logging.WARNING)
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        trace = record.exc_info[1] if record.exc_info else None
        self._logger.log(record.levelno, record.getMessage(), fact="library", library=record.name, exc_info=trace)


class _Lines:
    """Writes lines to ``stream``. A reader who is gone, or a full disk, costs lines and no work."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, line: str) -> None:
        """Write one line, at once."""
        with suppress(OSError, ValueError):  # a broken pipe, a closed stream
            self._stream.write(f"{line}\n")
            self._stream.flush()

    debug = info = warning = error = critical = write
    """As the levels are called by structlog."""


def _scrubbing(secrets: Sequence[str]) -> Callable[[Any, str, MutableMapping[str, Any]], MutableMapping[str, Any]]:
    def scrub(_logger: Any, level: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        known = [*secrets, *line.pop("_secrets", ())]
        if level in {"debug", "info"}:
            return line
        return {name: masked(value, secrets=known) if isinstance(value, str) else value for name, value in line.items()}

    return scrub


def logger(*, log_format: str, level: int, stream: TextIO = sys.stderr, secrets: Sequence[str] = ()) -> Any:
    """Return a structlog logger that writes one line a fact to ``stream``: ``json`` or ``console``.

    ``secrets`` are masked in warnings and errors, tracebacks included.
    """
    renderer: Any = structlog.processors.JSONRenderer(serializer=_json)
    if log_format == "console":
        renderer = structlog.dev.ConsoleRenderer(colors=stream.isatty(), pad_event_to=0)
    return structlog.wrap_logger(
        _Lines(stream),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _scrubbing(secrets),
            renderer,
        ],
    ).bind()  # once, and not anew for every line


def _json(line: dict[str, Any], **_: Any) -> str:
    return msgspec.json.encode(line).decode()
