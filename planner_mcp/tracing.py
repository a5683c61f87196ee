"""Spans of OpenTelemetry: a call, the job it submitted, each attempt to solve it (SPEC O3).

Owns the one way this project makes spans, and how they travel from a call to a worker: as W3C `traceparent` beside the
job. Off unless a process calls `export_spans`: until then a span costs one look at a variable. Where spans go is said
by the standard variables of OpenTelemetry (`OTEL_EXPORTER_OTLP_ENDPOINT`, …). The trace id of a span is that of the log
lines. No argument of a caller and no text of an error goes into a span.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from opentelemetry import trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from planner_mcp import __version__
from planner_mcp.telemetry import new_trace_id, trace_id

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

Value = str | int | float | bool
AddAttribute = Callable[[str, Value], None]
"""Adds an attribute to a span."""
_CARRIER: Final = "traceparent"
_TRACE: Final = slice(3, 35)
"""Where the trace id stands in a traceparent."""
_propagator: Final = TraceContextTextMapPropagator()
_tracer: trace.Tracer | None = None


def export_spans(service: str, exporter: "SpanExporter | None" = None) -> None:
    """Make spans from now on and send them away, by OTLP over HTTP unless an exporter is given.

    Raises:
        ImportError: The extra `otel` is not installed.
    """
    global _tracer
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    class OurIds(RandomIdGenerator):
        """Gives a trace the id that its log lines have."""

        def generate_trace_id(self) -> int:
            """Return the id of what is going on, or a new one."""
            return int(trace_id() or new_trace_id(), 16)

    about = Resource.create({"service.name": service, "service.version": __version__})
    provider = TracerProvider(id_generator=OurIds(), resource=about)
    provider.add_span_processor(BatchSpanProcessor(_otlp()) if exporter is None else SimpleSpanProcessor(exporter))
    _tracer = provider.get_tracer("planner_mcp", __version__)


def _otlp() -> "SpanExporter":
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    exporter: SpanExporter = OTLPSpanExporter()
    return exporter


@contextmanager
def span(name: str, *, parent: str = "", **attributes: Value) -> Iterator[AddAttribute]:
    """Time the block as a span, and give out what adds to its attributes.

    Args:
        name: Of the span; few different ones.
        parent: The traceparent of the span that caused it, where that is not the current one.
        attributes: Ids and numbers, no text of a caller.
    """
    if _tracer is None:
        yield _discard
        return
    context = _propagator.extract({_CARRIER: parent}) if parent else None
    with _tracer.start_as_current_span(
        name, context=context, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as current:
        yield current.set_attribute


def current_traceparent() -> str:
    """Return the traceparent of the current span; empty where there is none."""
    if _tracer is None:
        return ""
    carrier: dict[str, str] = {}
    _propagator.inject(carrier)
    return carrier.get(_CARRIER, "")


def trace_of(parent: str) -> str:
    """Return the trace id of a traceparent; empty for an empty one."""
    return parent[_TRACE]


def _discard(_name: str, _value: Value) -> None:
    """Take an attribute of a span that nobody makes."""
