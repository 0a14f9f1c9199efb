"""Spans to an OpenTelemetry collector, over OTLP. Imported by the wiring only where a collector is configured."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from fluxx import __version__
from fluxx.tracing import Kind, Span

KINDS: Final = {
    "server": trace.SpanKind.SERVER,
    "producer": trace.SpanKind.PRODUCER,
    "consumer": trace.SpanKind.CONSUMER,
    "client": trace.SpanKind.CLIENT,
    "internal": trace.SpanKind.INTERNAL,
}
HEADER: Final = "traceparent"
EXPORT_EVERY: Final = 1.0
"""Seconds between two exports."""


class OtlpTracing:
    """Keeps the promise of ``tracing.Tracing``; spans leave in batches, on a thread of their own."""

    def __init__(self, endpoint: str) -> None:
        resource = Resource.create({SERVICE_NAME: "fluxx-extraction", SERVICE_VERSION: __version__})
        provider = TracerProvider(resource=resource)  # it sends what is left when the process ends
        exporter = OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces")
        provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=round(1000 * EXPORT_EVERY)))
        self._tracer = provider.get_tracer("fluxx", __version__)
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def span(self, name: str, *, kind: Kind, parent: str | None, attributes: Mapping[str, object]) -> Iterator[Span]:
        """See ``Tracing.span``."""
        told = {f"fluxx.{key}": str(value) for key, value in attributes.items()}
        context = self._propagator.extract({HEADER: parent}) if parent else None
        # An error's words may hold an address with a key in it: OpenTelemetry would send them, traceback and all.
        with self._tracer.start_as_current_span(
            name,
            context=context,
            kind=KINDS[kind],
            attributes=told,
            record_exception=False,
            set_status_on_exception=False,
        ) as opened:
            carrier: dict[str, str] = {}
            self._propagator.inject(carrier, trace.set_span_in_context(opened))
            span = Span(carrier.get(HEADER, parent))
            try:
                yield span
            except Exception as error:
                opened.set_status(trace.StatusCode.ERROR, type(error).__name__)
                raise
            if span.outcome is not None:
                opened.set_attribute("fluxx.outcome", span.outcome)
