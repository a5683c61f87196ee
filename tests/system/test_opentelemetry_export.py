"""Spans of a whole planner, received by a collector over OTLP (SPEC O3)."""

import gzip
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anyio
import pytest
from mcp import Client
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from examples.planner_server import running_server
from tests.shared.http.local_server import QuietHandler, serving
from tests.shared.scenarios.client_scenarios import SMALLEST, submit, wait_for

pytestmark = pytest.mark.anyio


class Collector(ThreadingHTTPServer):
    """Takes spans in."""

    def __init__(self) -> None:
        self.spans: dict[tuple[str, str], Span] = {}
        super().__init__(("127.0.0.1", 0), Inbox)


class Inbox(QuietHandler, BaseHTTPRequestHandler):
    """One request of an exporter."""

    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        for process in ExportTraceServiceRequest.FromString(body).resource_spans:
            facts = {fact.key: fact.value.string_value for fact in process.resource.attributes}
            for scope in process.scope_spans:
                self.server.spans |= {(facts["service.name"], span.name): span for span in scope.spans}
        self.reply(200)


@dataclass(frozen=True)
class TracedDay:
    """What was exported and logged of a job, and of a call that named a trace."""

    spans: dict[tuple[str, str], Span]
    job_id: str
    log: str


STRANGERS_TRACE = "ab" * 16


@pytest.fixture(scope="module")
async def traced(tmp_path_factory: pytest.TempPathFactory) -> TracedDay:
    """A planner that exported all of its spans before it ended."""
    folder = tmp_path_factory.mktemp("traced")
    strangers = {"traceparent": f"00-{STRANGERS_TRACE}-{'cd' * 8}-01"}
    collector = Collector()
    with serving(collector), anyio.fail_after(100):
        url = f"http://127.0.0.1:{collector.server_port}"
        settings = {"PLANNER_OTEL": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": url}
        async with (
            running_server(folder, workers=1, settings=settings) as planner_server,
            Client(f"{planner_server.mcp}?toolsets=all") as client,
        ):
            job_id = await submit(client, SMALLEST, "PT1S")
            await wait_for(client, job_id, "COMPLETED")
            await client.call_tool("list_jobs", {}, meta=strangers)  # type: ignore[arg-type]  # any key may stand there
    return TracedDay(collector.spans, job_id, (folder / "serve.log").read_text(encoding="utf-8"))


@pytest.mark.slow
async def test_a_call_its_job_and_the_solve_are_one_trace_of_two_processes(traced: TracedDay) -> None:
    """SPEC O3: linked by trace context, under the trace id of the worker's log lines; nothing of the day is told."""
    call = traced.spans["planner-mcp", "tools/call solve_vrp"]
    job, solve = (traced.spans["planner-mcp-worker", name] for name in ("job", "solve"))
    assert (job.parent_span_id, solve.parent_span_id) == (call.span_id, job.span_id)
    assert call.trace_id == job.trace_id == solve.trace_id
    assert f'"trace_id": "{call.trace_id.hex()}", "job_id": "{traced.job_id}"' in traced.log
    said = str(list(traced.spans.values()))
    assert traced.job_id in said
    assert not any(word in said for word in ("veh-1", "LOC_A", "t-1"))


@pytest.mark.slow
async def test_a_trace_that_a_stranger_names_is_not_taken_over(traced: TracedDay) -> None:
    """SPEC O3, ADR 19: neither spans nor log lines carry an id a client chose."""
    call = traced.spans["planner-mcp", "tools/call list_jobs"]
    assert call.trace_id.hex() != STRANGERS_TRACE
    assert call.parent_span_id == b""
    assert STRANGERS_TRACE not in traced.log
