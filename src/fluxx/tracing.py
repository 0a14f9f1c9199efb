"""One trace from upload to event: spans with W3C ``traceparent``s, which every hand-over carries on.

Without OpenTelemetry a span passes its parent on and does nothing else, so that a trace that comes from
elsewhere still goes through. ``telemetry.Facts`` opens spans and writes the trace's id into each log line;
``adapters/otlp.py`` is the other half, loaded only where it is configured.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Final, Literal, Protocol, TypeAlias

import msgspec

Kind: TypeAlias = Literal["server", "producer", "consumer", "client", "internal"]

current: Final[ContextVar[str | None]] = ContextVar("traceparent", default=None)
"""The ``traceparent`` of the span that the running task is in."""


class Span(msgspec.Struct):
    """A piece of work. ``traceparent`` is what its children, here and elsewhere, name as their parent."""

    traceparent: str | None
    outcome: str | None = None


class Tracing(Protocol):
    """Opens spans."""

    def span(
        self, name: str, *, kind: Kind, parent: str | None, attributes: Mapping[str, object]
    ) -> AbstractContextManager[Span]:
        """Open a span below ``parent`` (None: a new trace); an exception that leaves it marks it as failed.

        ``attributes`` become text only where somebody keeps them.
        """
        ...


class NoTracing:
    """Passes traces on and makes none."""

    def span(
        self,
        name: str,  # noqa: ARG002 - as promised
        *,
        kind: Kind,  # noqa: ARG002 - as promised
        parent: str | None,
        attributes: Mapping[str, object],  # noqa: ARG002 - as promised
    ) -> AbstractContextManager[Span]:
        """See ``Tracing.span``."""
        return nullcontext(Span(parent))


def trace_id_of(traceparent: str | None) -> str | None:
    """Return the trace's id: 32 hexadecimal digits."""
    return traceparent.split("-")[1] if traceparent else None
