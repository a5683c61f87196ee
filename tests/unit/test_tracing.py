"""Spans of calls, linked by trace context (SPEC O3)."""

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from planner_mcp import tracing
from planner_mcp.jobs.job_admission import digest
from planner_mcp.jobs.job_model import SolveRequest
from planner_mcp.telemetry import trace_context
from planner_mcp.tracing import current_traceparent, export_spans, span, trace_of

TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Spans that were made."""
    monkeypatch.setattr(tracing, "_tracer", None)  # and after the test again
    exporter = InMemorySpanExporter()
    export_spans("test", exporter)
    return exporter


def test_nothing_is_made_or_carried_unless_asked_for() -> None:
    """SPEC O3: off by default."""
    with span("a", id="x") as note:
        note("more", 1)
        assert (current_traceparent(), trace_of(current_traceparent())) == ("", "")


def test_a_span_has_the_trace_id_of_its_log_lines(kept: InMemorySpanExporter) -> None:
    """SPEC O3: traces and logs join."""
    with trace_context(TRACE), span("a", job_id="j") as note:
        note("code", "ok")
        assert trace_of(current_traceparent()) == TRACE
    (found,) = kept.get_finished_spans()
    assert found.name == "a"
    assert dict(found.attributes or {}) == {"job_id": "j", "code": "ok"}
    assert found.context is not None
    assert f"{found.context.trace_id:032x}" == TRACE


def test_a_span_elsewhere_goes_on_from_what_was_carried(kept: InMemorySpanExporter) -> None:
    """SPEC O3: linked by trace context, as W3C writes it."""
    with span("call"):
        parent = current_traceparent()
    with span("job", parent=parent), span("solve"):
        pass
    call, solve, job = kept.get_finished_spans()
    assert call.context is not None
    assert job.context is not None
    assert (job.parent and job.parent.span_id, job.context.trace_id) == (call.context.span_id, call.context.trace_id)
    assert solve.parent == job.context


def test_a_failing_block_reveals_nothing_of_its_error(kept: InMemorySpanExporter) -> None:
    """SPEC T8: words of errors stay inside."""
    with pytest.raises(ValueError, match="secret"), span("a"):
        raise ValueError("secret")
    (found,) = kept.get_finished_spans()
    assert (found.events, found.status.description) == ((), None)


def test_a_broken_traceparent_begins_a_trace_of_its_own(kept: InMemorySpanExporter) -> None:
    """SPEC O3: whatever a record holds."""
    with span("a", parent="no such thing"):
        pass
    assert kept.get_finished_spans()[0].parent is None


def test_equal_calls_are_equal_whatever_trace_they_belong_to() -> None:
    """SPEC T2: a trace is no part of what was asked."""
    assert digest(SolveRequest("scn-0-x", 5, traceparent="00-a-b-01")) == digest(SolveRequest("scn-0-x", 5))
